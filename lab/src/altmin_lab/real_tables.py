"""What :func:`altmin.discover` says of real tables, beside AND, NMF, PCA and FastICA with the number given.

``python -m altmin_lab.real_tables findings.json docs/discover.md`` writes the tables of the page; names that
follow choose some, and the others stay as they were found.
Tables that are not part of scikit-learn are read from the folder that ``ALTMIN_DATA`` names.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import NMF, PCA, FastICA

from altmin import AND, discover
from altmin.datasets.real import data_folder
from altmin.metrics import sine_errors
from altmin_lab.scenes import load_scene

_SAME = 0.1  # radians
_GIVEN = ("AND", "NMF", "PCA", "FastICA")  # methods that are given the number
_BEGIN, _END = "<!-- real tables -->", "<!-- end -->"


@dataclass(frozen=True)
class RealTable:
    """A table, how many factors are thought to be in it, and these where they are known."""

    X: Any
    number: int
    about: str
    factors: NDArray[Any] | None = None


def folder() -> Path:
    """That of the data that aren't part of a package."""
    found = data_folder()
    if found is None:
        raise FileNotFoundError("ALTMIN_DATA names no folder")
    return found


def _scene(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    scene = load_scene(folder(), name)
    return scene.cube.reshape(-1, scene.cube.shape[-1]), scene.endmembers


def _samson() -> RealTable:
    X, M = _scene("samson")
    return RealTable(X, 3, "9,025 pixels x 156 bands: soil, tree and water", M)


def _jasper() -> RealTable:
    X, M = _scene("jasper_ridge")
    return RealTable(X, 4, "10,000 pixels x 198 bands: tree, water, dirt and road", M)


def _breast_signatures() -> RealTable:
    lines = (folder() / "signatures/pcawg_breast_sbs.csv").read_text(encoding="utf-8").splitlines()
    X = np.array([line.split(",")[1:] for line in lines[1:]], dtype=float).T
    return RealTable(X, 12, f"mutations of {len(X)} breast cancers in 96 classes")


def _als2004() -> RealTable:
    from scipy.io import loadmat

    file = loadmat(folder() / "chemometrics/als2004.mat")
    return RealTable(file["MATRIX"], 4, "204 times x 96 wavelengths: four substances", file["spure"])


def _newsgroups() -> RealTable:
    file = np.load(folder() / "newsgroups20/newsgroups20_bow.npz")
    parts = (file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"])
    X = sp.csr_array(parts, shape=tuple(file["shape"]))
    frequent = np.argsort(-np.asarray((X > 0).sum(axis=0)).ravel())[:1000]
    X = X[:, np.sort(frequent)]
    X = X[np.asarray(X.sum(axis=1)).ravel() >= 20]
    return RealTable(X, 20, f"{X.shape[0]} posts in 20 groups x the 1,000 words that most posts use")


TABLES: dict[str, Callable[[], RealTable]] = {
    "iris": lambda: RealTable(load_iris().data, 3, "150 flowers x 4 lengths: three species"),
    "wine": lambda: RealTable(load_wine().data, 3, "178 wines x 13 measurements: three growers"),
    "breast cancer": lambda: RealTable(load_breast_cancer().data, 3, "569 tumours x 30 measurements"),
    "digits": lambda: RealTable(load_digits().data, 10, "1,797 digits of 8 x 8 pixels"),
    "ALS2004": _als2004,
    "breast signatures": _breast_signatures,
    "Samson": _samson,
    "Jasper Ridge": _jasper,
    "newsgroups": _newsgroups,
}


def findings(names: list[str]) -> Iterator[dict[str, Any]]:
    """What is said of each table, and how far each method's factors are from known ones."""
    for name in names:
        table = TABLES[name]()
        begin = time.process_time()
        found = discover(table.X, random_state=0)
        row: dict[str, Any] = {
            "table": name,
            "about": table.about,
            "kind": found.kind,
            "number": found.n_components,
            "verdict": "" if found.guarantee is None else found.guarantee.verdict,
            "why": list(found.why),
            "seconds": round(time.process_time() - begin, 1),
            "given": table.number,
        }
        if table.factors is not None:
            row["angles"] = _angles(table, found.best or (found.closest and found.closest.model))
            row["suggested"] = found.best is None
        else:
            row["again"] = _found_again(table)
        yield row


def _peers(k: int) -> dict[str, Callable[[NDArray[Any]], NDArray[Any]]]:
    """Factors that each method gives for a number."""
    return {
        "AND": lambda X: AND(k, random_state=0).fit(X).components_,
        "NMF": lambda X: (
            NMF(k, init="nndsvda", max_iter=1000, random_state=0).fit(np.maximum(X, 0)).components_
        ),
        "PCA": lambda X: PCA(k, random_state=0).fit(X).components_,
        "FastICA": lambda X: FastICA(k, random_state=0, max_iter=1000).fit(X).mixing_.T,
    }


def _found_again(table: RealTable) -> dict[str, int]:
    """Of each method, how many factors of one half of the rows come again, within .1 radian, in the other."""
    X = table.X.toarray() if sp.issparse(table.X) else np.asarray(table.X, dtype=float)
    order = np.random.default_rng(0).permutation(len(X))
    halves = X[order[::2]], X[order[1::2]]
    found = {name: [fit(half) for half in halves] for name, fit in _peers(table.number).items()}
    return {name: int(np.sum(sine_errors(*pair) <= np.sin(_SAME))) for name, pair in found.items()}


def _angles(table: RealTable, best: Any) -> dict[str, float]:
    """Of each method, the largest angle in radians between a known factor and the one matched to it."""
    assert table.factors is not None
    k, X = table.number, np.asarray(table.X, dtype=float)
    found = {} if best is None else {"discover": best.components_}
    found |= {name: fit(X) for name, fit in _peers(k).items()}
    same = {name: factors for name, factors in found.items() if len(factors) == k}
    return {
        name: round(float(np.arcsin(np.clip(sine_errors(factors, table.factors), 0, 1)).max()), 3)
        for name, factors in same.items()
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The findings as a table of a page."""
    lines = ["| table | what discover says | CPU s |", "|---|---|---|"]
    for row in rows:
        verdict = f", {row['verdict']}" if row["verdict"] else ""
        said = f"**{row['kind']}, {row['number']}{verdict}.** {row['why'][1]}"
        lines.append(f"| {row['table']}: {row['about']} | {said} | {row['seconds']} |")
    known = [row for row in rows if "angles" in row]
    if known:
        lines += [
            "",
            f"| table, number given | discover | {' | '.join(_GIVEN)} |",
            "|---|" + "---|" * (1 + len(_GIVEN)),
        ]
        for row in known:
            cells = [str(row["angles"].get(name, "-")) for name in ("discover", *_GIVEN)]
            cells[0] += " (suggested)" if row["suggested"] and "discover" in row["angles"] else ""
            lines.append(f"| {row['table']}, {row['given']} | {' | '.join(cells)} |")
    others = [row for row in rows if "again" in row]
    if others:
        lines += ["", f"| table, number given | {' | '.join(_GIVEN)} |", "|---|" + "---|" * len(_GIVEN)]
        for row in others:
            cells = [f"{row['again'][name]} of {row['given']}" for name in _GIVEN]
            lines.append(f"| {row['table']}, {row['given']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(target: Path, page: Path, names: list[str]) -> None:
    """Add findings to a file of them, and write the page's tables."""
    warnings.simplefilter("ignore")
    known = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    for row in findings(names or list(TABLES)):
        known[row["table"]] = row
        target.write_text(json.dumps(known, indent=1), encoding="utf-8")
        print(row["table"], row["kind"], row["number"], row["verdict"], row["seconds"], flush=True)
    before, rest = page.read_text(encoding="utf-8").split(_BEGIN)
    told = markdown([known[name] for name in TABLES if name in known])
    page.write_text(f"{before}{_BEGIN}\n\n{told}\n{_END}{rest.split(_END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
