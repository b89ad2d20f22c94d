"""What :func:`altmin.discover` says of tables with a known answer, on kinds that its rules never saw."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, promise
from sklearn.base import clone

from altmin import discover
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary
from altmin.metrics import sine_errors
from altmin_lab import judged_tables, plain_tables, planted_tables

PER_KIND = int(os.environ.get("ALTMIN_TABLES", "14"))
SEED = int(os.environ.get("ALTMIN_TABLES_SEED", "1"))
SECONDS = float(os.environ.get("ALTMIN_TABLES_SECONDS", "inf"))  # tables that begin later are not asked
KEPT = os.environ.get("ALTMIN_TABLES_KEPT")  # a file of what was said already, so that a round can go on
DOUBT = "can't be told apart", "neither confirmed nor ruled out", "a suggestion and no claim"
_FALSE = 0.1  # sine to the true factor, or relative error of a law's matrix


@promise
def structure() -> Iterator[Figure]:
    """Planted tables: the right family in 92 %, the number within one in 85 % of these, no lie."""
    tables = planted_tables.planted(judged_tables.PLANTED, PER_KIND, SEED)
    rows = _each("planted", tables, _said)
    right = [row for row in rows if row["right"]]
    wrong = [row for row in rows if not row["right"]]
    yield Figure(f"right family, {len(rows)} planted tables", len(right) / len(rows), at_least=0.92)
    fresh = [row for row in rows if row["kind"] not in judged_tables.LOOKED_AT]
    what = f"right family, {len(fresh)} of these tables, of kinds that no rule was chosen on"
    yield Figure(what, _share(fresh, "right"), at_least=0.92)
    yield Figure("number within one, of the right ones", _share(right, "near"), at_least=0.85)
    yield Figure("false 'recovered'", sum(row["false"] for row in rows), at_most=0)
    yield Figure(f"admit doubt, of {len(wrong)} wrong answers", _share(wrong, "doubt"), at_least=0.5)
    yield Figure("of these wrong answers, 'contradicted' by their own report", _share(wrong, "contradicted"))
    seconds = [row["seconds"] for row in rows]
    yield Figure("CPU seconds, mean", float(np.mean(seconds)))
    yield Figure("CPU seconds, worst", max(seconds), at_most=60)
    for kind in judged_tables.PLANTED:
        yield Figure(f"right family: {kind}", _share([row for row in rows if row["kind"] == kind], "right"))


def _each(name: str, tables: Iterator[Any], ask: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    """What is said of each table, one of each kind in turn, until the time is over; never asked twice."""
    begin, file = time.monotonic(), Path(KEPT) if KEPT else None
    kept = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    rows = []
    for number, table in enumerate(tables):
        key = f"{name}, seed {SEED}, {number}"
        if key not in kept:
            if time.monotonic() - begin > SECONDS:
                break
            kept[key] = ask(table)
            if file:
                file.write_text(json.dumps(kept), encoding="utf-8")
        rows.append(kept[key])
    return rows


def _said(table: planted_tables.Planted) -> dict[str, Any]:
    """What is said of one table, held against the truth."""
    begin = time.process_time()
    found = discover(table.X, table.y, random_state=0)
    seconds = time.process_time() - begin
    verdict = "" if found.guarantee is None else found.guarantee.verdict
    false = False
    if verdict == "recovered" and table.y is not None:  # the claim is the matrix, however it is written
        false = found.kind != table.family or _gap(found.best.matrix(), table) > _FALSE
    elif verdict == "recovered":
        same = len(found.best.components_) == len(table.factors)
        false = not same or float(sine_errors(found.best.components_, table.factors).max()) > _FALSE
    right = found.kind == table.family
    print(
        f"  {table.kind} {table.X.shape}: {table.family} {table.n_components} -> {found.kind} "
        f"{found.n_components} {verdict}{' FALSE' if false else ''}{'' if right else ' <<<'} {seconds:.1f} s",
        flush=True,
    )
    return {
        "kind": table.kind,
        "right": right,
        "near": bool(abs(found.n_components - table.n_components) <= 1),
        "false": bool(false),
        "contradicted": verdict == "contradicted",
        "doubt": verdict in ("unknown", "contradicted") or any(words in found.why[1] for words in DOUBT),
        "seconds": seconds,
    }


def _gap(matrix: np.ndarray, table: planted_tables.Planted) -> float:
    """Relative error of a law's matrix, for columns in units of their spread."""
    X = table.X
    unit = np.outer(X.std(axis=0), X.std(axis=0))
    two = ((X == X.min(axis=0)) | (X == X.max(axis=0))).all(axis=0)
    unit[two, two] = 0  # the square of a column of two values is the column
    return float(np.linalg.norm((matrix - table.factors) * unit) / np.linalg.norm(table.factors * unit))


def _share(rows: list[dict[str, Any]], what: str) -> float:
    return float(np.mean([row[what] for row in rows])) if rows else 1.0


@promise
def no_structure() -> Iterator[Figure]:
    """Tables without such structure: a family is claimed in at most 3 %."""
    rows = _each("plain", plain_tables.plain(judged_tables.PLAIN, PER_KIND, SEED), _claimed)
    seconds = [row["seconds"] for row in rows]
    yield Figure(f"claimed, of {len(rows)} tables without structure", _share(rows, "claimed"), at_most=0.03)
    fresh = [row for row in rows if row["kind"] not in judged_tables.LOOKED_AT]
    what = f"claimed, of {len(fresh)} of these tables, of kinds that no rule was chosen on"
    yield Figure(what, _share(fresh, "claimed"), at_most=0.03)
    yield Figure("CPU seconds, mean", float(np.mean(seconds)))
    yield Figure("CPU seconds, worst", max(seconds), at_most=60)
    for kind in judged_tables.PLAIN:
        yield Figure(f"claimed: {kind}", _share([row for row in rows if row["kind"] == kind], "claimed"))


def _claimed(kind_and_table: tuple[str, Any]) -> dict[str, Any]:
    """Whether a family is claimed in one table."""
    kind, table = kind_and_table
    begin = time.process_time()
    found = discover(table, random_state=0)
    seconds = time.process_time() - begin
    said = f"{found.kind} {found.n_components}{' <<<' if found.best is not None else ''}"
    print(f"  {kind} {table.shape}: {said} {seconds:.1f} s", flush=True)
    return {"kind": kind, "claimed": found.best is not None, "seconds": seconds}


def _cpu(act: Callable[[], Any]) -> tuple[Any, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        return act(), time.process_time() - begin


@promise
def cost() -> Iterator[Figure]:
    """CPU at most 12 times that of the winner's own fit, and at most 60 s for 5,000 x 200."""
    rng = np.random.default_rng(0)
    law = make_quadratic(5000, 40, 2, noise=0.1, random_state=0)
    tables = {
        "mixtures with noise, 5000 x 200": (
            make_dir(5000, 200, 8, concentration=0.3, noise=3e-3, random_state=0).X,
            None,
        ),
        "sparse, 5000 x 15": (make_sparse_dictionary(5000, 15, density=0.1, random_state=0).X, None),
        "Gaussian, 5000 x 200": (rng.standard_normal((5000, 200)) @ rng.standard_normal((200, 200)), None),
        "law, 5000 x 40": (law.X, law.y),
    }
    for name, (X, y) in tables.items():
        discover(X, y, random_state=0)  # compiles: a first use costs the same with any fit
        found, spent = _cpu(lambda X=X, y=y: discover(X, y, random_state=0))
        yield Figure(f"{name}: CPU seconds ({found.kind})", spent, at_most=60)
        if found.best is None:
            continue
        model, fit = _cpu(lambda X=X, y=y, best=found.best: clone(best).fit(X, y))
        _, report = _cpu(lambda X=X, y=y, model=model: model.guarantee(X, y))
        yield Figure(
            f"{name}: times the winner's fit with its full report", spent / (fit + report), at_most=12
        )
        yield Figure(f"{name}: times the winner's fit alone", spent / fit, at_most=12)
