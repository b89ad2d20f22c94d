"""Mutational signatures: how many are found, beside the tools of the field; verdicts and intervals.

``ALTMIN_SIGNATURE_PROBLEMS`` cuts the planted cohorts to a number of each kind (48 and 48 without it), and
``ALTMIN_SIGPROFILER_REPLICATES`` SigProfiler's 100 replicates; what was cut is said in the figures.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, cpu_time, data_folder, promise

from altmin import AND
from altmin.metrics import match_components
from altmin.signatures import SignatureModel, refit
from altmin_lab.peers.signatures import kl_best_of_ten, python_of, salamander, sigprofiler
from altmin_lab.signature_problems import Cohort, breast, catalogue, fresh, melanoma, planted, unseen

MOST = int(os.environ.get("ALTMIN_SIGNATURE_PROBLEMS", "48"))
SEED = int(os.environ.get("ALTMIN_SEED", "500"))
Results = list[tuple[Any, float]]
Finder = Callable[[list[Cohort]], Results]  # signatures and CPU seconds, cohort by cohort


def folder() -> str:
    """The folder with the real data."""
    found = data_folder()
    if found is None:
        raise SystemExit("signatures_found needs ALTMIN_DATA, the folder with signatures")
    return found


def spread(cohorts: Iterator[Cohort]) -> list[Cohort]:
    """So many of 48 cohorts, evenly over their kinds."""
    made = list(islice(cohorts, 48))
    return [made[i] for i in np.unique(np.linspace(0, len(made) - 1, min(MOST, len(made))).astype(int))]


def kinds() -> dict[str, list[Cohort]]:
    """The cohorts, by where they come from."""
    library = catalogue(folder()).values
    return {
        "planted": spread(planted(library, range(SEED, SEED + 4))),
        "fresh": spread(fresh(library, range(SEED, SEED + 4))),
        "breast": [breast(folder(), SEED)],
        "melanoma": [melanoma(folder())],
    }


def one_by_one(find: Callable[[Any, int], tuple[Any, float]]) -> Finder:
    """A finder of many cohorts from one of counts and a number."""
    return lambda cohorts: [find(c.counts, len(c.signatures)) for c in cohorts]


def own(X: Any, K: int) -> tuple[Any, float]:
    """Ours."""
    with cpu_time() as clock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AND(K, noise="poisson").fit(X)
    return model.components_, clock.cpu


def cosines(found: Any, cohort: Cohort) -> Any:
    """To the matched true signatures."""
    return match_components(found, cohort.signatures, signed=True)[1]


def exposure_error(found: Any, cohort: Cohort) -> float:
    """Sum of absolute errors of the exposures, over that of the exposures."""
    order = match_components(found, cohort.signatures, signed=True)[0]
    A = np.maximum(np.asarray(found, float)[order], 1e-12)
    Z = refit(cohort.counts, A / A.sum(axis=1, keepdims=True), select=False).values
    return float(np.abs(Z - cohort.exposures).sum() / cohort.exposures.sum())


def compared(name: str, cohorts: list[Cohort], tool: str, find: Finder) -> Iterator[Figure]:
    """Share found at cosine .95, error of the exposures, CPU seconds; ours against the tool's."""
    own(cohorts[0].counts, 3)  # compile off the clock
    yield Figure(f"{name}: cohorts", len(cohorts))
    share: dict[str, float] = {}
    for who, finder in ((tool, find), ("altmin", one_by_one(own))):
        results = list(zip(finder(cohorts), cohorts, strict=True))
        values = [cosines(A, c) for (A, _), c in results]
        share[who] = float(np.mean(np.concatenate(values) >= 0.95))
        yield Figure(f"{name}, {who}: worst share found", min(float(np.mean(v >= 0.95)) for v in values))
        errors = [exposure_error(A, c) for (A, _), c in results]
        yield Figure(f"{name}, {who}: mean error of the exposures", float(np.mean(errors)))
        yield Figure(f"{name}, {who}: worst error of the exposures", max(errors))
        yield Figure(f"{name}, {who}: CPU seconds", float(np.mean([cpu for (_, cpu), _ in results])))
        bound = share[tool] if who == "altmin" else None
        yield Figure(f"{name}, {who}: share found at cosine .95", share[who], at_least=bound)


@promise
def found_like_kl() -> Iterator[Figure]:
    """As many signatures at cosine .95 as scikit-learn's KL-NMF, best of 10."""
    for name, cohorts in kinds().items():
        yield from compared(name, cohorts, "KL best of 10", one_by_one(kl_best_of_ten))


def beside_salamander(model: str, called: str) -> Iterator[Figure]:
    """Against one of its models, or the sentence that it isn't here."""
    if not python_of("salamander"):
        print("salamander is left out: ALTMIN_SALAMANDER doesn't name its Python")
        return
    for name, cohorts in kinds().items():

        def find(cohorts: list[Cohort]) -> Results:
            return salamander([c.counts for c in cohorts], [len(c.signatures) for c in cohorts], model)

        yield from compared(name, cohorts, called, find)


@promise
def found_like_salamander() -> Iterator[Figure]:
    """As many signatures at cosine .95 as salamander's KL-NMF."""
    yield from beside_salamander("klnmf", "salamander KL")


@promise
def found_like_minimum_volume() -> Iterator[Figure]:
    """As many signatures at cosine .95 as salamander's MvNMF."""
    yield from beside_salamander("mvnmf", "salamander MvNMF")


@promise
def a_tenth_of_sigprofiler() -> Iterator[Figure]:
    """As many signatures as SigProfilerExtractor at a tenth of its CPU: number given, smallest cohorts."""
    if not python_of("sigprofiler"):
        print("SigProfilerExtractor is left out: ALTMIN_SIGPROFILER doesn't name its Python")
        return
    replicates = int(os.environ.get("ALTMIN_SIGPROFILER_REPLICATES", "100"))
    made = islice(planted(catalogue(folder()).values, range(1)), 12)
    cohorts = sorted(made, key=lambda c: len(c.counts) * len(c.signatures))[:5]
    tool = f"SigProfiler, {replicates} replicates"
    figures = list(
        compared("smallest", cohorts, tool, one_by_one(lambda X, K: sigprofiler(X, K, replicates)))
    )
    yield from figures
    cpu = {f.what: f.value for f in figures if "CPU" in f.what}
    ours, theirs = (cpu[f"smallest, {who}: CPU seconds"] for who in ("altmin", tool))
    yield Figure(f"CPU of altmin / {tool}", ours / theirs, at_most=0.1)


def judged(cohort: Cohort, number: int) -> list[tuple[bool, bool, bool]]:
    """Of each signature: whether it is near a true one, called 'recovered', stable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SignatureModel(number).fit(cohort.counts)
        model.guarantee(cohort.counts)
    A, B = model.signatures_.values, cohort.signatures
    near = (A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T
    said = [row["verdict"] == "recovered" for row in model.summary()]
    return list(zip(near.max(axis=1) >= 0.95, said, model.stability_ >= 0.95, strict=True))


@promise
def verdicts_per_signature() -> Iterator[Figure]:
    """Of signatures called 'recovered' 98 % have cosine .95; said of 70 % of those that do."""
    rows: dict[str, list[tuple[bool, bool, bool]]] = {}
    for name, cohorts in kinds().items():
        rows[name] = [row for cohort in cohorts for row in judged(cohort, len(cohort.signatures))]
    for number, cohort in unseen(catalogue(folder()).values, range(SEED, SEED + max(MOST // 12, 1))):
        rows.setdefault(f"unseen, {cohort.kind.split(',')[0]}", []).extend(judged(cohort, number))
    for name, found in rows.items():
        true, said, _ = np.array(found).T
        yield Figure(f"{name}: signatures of cosine .95, of {len(found)}", float(true.sum()))
        yield Figure(f"{name}: called 'recovered'", float(said.sum()))
        yield Figure(f"{name}: called 'recovered' and below cosine .95", float((said & ~true).sum()))
    true, said, stable = np.array([row for found in rows.values() for row in found]).T
    yield Figure("signatures", len(true))
    yield Figure("signatures of cosine .95", float(true.mean()))
    yield Figure("called 'recovered'", float(said.mean()))
    right = float(true[said].mean()) if said.any() else 0.0
    yield Figure("of those called 'recovered', right", right, at_least=0.98)
    yield Figure("of those right, called 'recovered'", float(said[true].mean()), at_least=0.7)
    yield Figure("evidence beside it: of those of stability .95, right", float(true[stable].mean()))
    yield Figure("evidence beside it: of those right, of stability .95", float(stable[true].mean()))


@promise
def intervals_cover() -> Iterator[Figure]:
    """Intervals of 90 % cover 85 to 95 % of the true exposures that aren't 0."""
    library = catalogue(folder())
    for whole in (False, True):
        name = "whole catalogue" if whole else "true signatures given"
        inside, zeros, widths, by_kind = [], [], [], {}
        for kind, cohorts in kinds().items():
            if kind == "melanoma":
                continue  # its published counts are of expected exposures with other noise
            for cohort in cohorts:
                truth, found, missed = _aligned(cohort, library, whole)
                ok = (found.low <= truth) & (truth <= found.high)
                active = np.concatenate([ok[truth > 0], np.zeros(missed, bool)])
                inside.append(active)
                zeros.append(ok[truth == 0])
                widths.append(((found.high - found.low) / np.maximum(truth, 1.0))[truth > 0])
                by_kind.setdefault(cohort.kind.split(",")[0], []).append(active)
        share = float(np.concatenate(inside).mean())
        worst = min(float(np.concatenate(v).mean()) for v in by_kind.values())
        yield Figure(f"{name}: exposures inside", share, at_least=0.85, at_most=0.95)
        yield Figure(f"{name}: exposures inside, worst kind of cohort", worst)
        yield Figure(f"{name}: zeros inside", float(np.concatenate(zeros).mean()))
        yield Figure(f"{name}: median width over the exposure", float(np.median(np.concatenate(widths))))
        yield Figure(f"{name}: mean width over the exposure", float(np.mean(np.concatenate(widths))))


@promise
def from_the_shell_to_a_page() -> Iterator[Figure]:
    """A real file of 192 genomes and 96 channels becomes a page in under a minute of CPU time."""
    files = Path(folder()) / "signatures"
    with tempfile.TemporaryDirectory() as here:
        words = ["signatures", str(files / "pcawg_breast_sbs.csv"), "--out", f"{here}/page.html"]
        words += ["--reference", str(files / "COSMIC_v3.6_SBS_GRCh37.txt")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "altmin", *words], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        page = Path(here, "page.html").read_text(encoding="utf-8")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield Figure("CPU seconds, compiled code in the cache or not", spent, at_most=60)
    yield Figure("pictures on the page", float(page.count("<img")), at_least=5)


def _aligned(cohort: Cohort, library: Any, whole: bool) -> tuple[Any, Any, int]:
    """True exposures in the columns of a refit, the refit, exposures to signatures that it left out."""
    names = [library.names[int(np.argmin(np.abs(library.values - a).sum(axis=1)))] for a in cohort.signatures]
    found = refit(cohort.counts, library if whole else library.select(names))
    truth, missed = np.zeros_like(found.values), 0
    for k, name in enumerate(names):
        if name in found.signatures:
            truth[:, found.signatures.index(name)] = cohort.exposures[:, k]
        else:
            missed += int((cohort.exposures[:, k] > 0).sum())
    return truth, found, missed
