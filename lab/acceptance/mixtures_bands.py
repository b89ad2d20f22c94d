"""Multivariate curve resolution: the benchmark of 2004 beside pyMCR, and bands that hold the truth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, cpu_time, data_folder, promise
from scipy.io import loadmat

from altmin.metrics import match_components
from altmin.mixtures import Bands, Resolution, feasible_bands, resolve
from altmin_lab.peers.mixtures import pymcr_is_here, resolved_by_pymcr

SEED = int(os.environ.get("ALTMIN_SEED", "700"))
PROBLEMS = int(os.environ.get("ALTMIN_MIXTURE_PROBLEMS", "4"))


def folder() -> Path:
    """The folder with the real data."""
    found = data_folder()
    if found is None:
        raise SystemExit("mixtures_bands needs ALTMIN_DATA, the folder with chemometrics and spectra")
    return Path(found)


def benchmark() -> tuple[Any, Any, Any, Any]:
    """Data, spectra, contributions in the same order, and where components are absent, by the file itself."""
    file = loadmat(folder() / "chemometrics/als2004.mat")
    X, S, C = (np.asarray(file[name], float) for name in ("MATRIX", "spure", "cpure"))
    near = np.linalg.lstsq(C, X, rcond=None)[0]
    order, _ = match_components(near, S, signed=True)
    return X, S, C[:, order], np.vstack([np.asarray(file["csel_matrix"]) == 0] * 4)


def cosines(found: Any, spectra: Any, S: Any, C: Any) -> tuple[float, float, Any]:
    """Worst cosines of matched spectra and contributions, and the order."""
    order, near = match_components(spectra, S, signed=True)
    Z = found[:, order]
    of_profiles = np.sum(Z * C, axis=0) / np.linalg.norm(Z, axis=0) / np.linalg.norm(C, axis=0)
    return float(near.min()), float(of_profiles.min()), order


def held(bands: Bands, order: Any, S: Any, C: Any) -> tuple[list[float], list[float]]:
    """Shares of each true spectrum's and contribution's points that are inside their bands."""
    sums = S.sum(axis=1)
    spectra, profiles = S / sums[:, None], C * sums
    low_s, high_s = bands.spectra[:, order]
    low_c, high_c = bands.contributions[:, :, order]
    return (
        np.mean((low_s <= spectra) & (spectra <= high_s), axis=1).tolist(),
        np.mean((low_c <= profiles) & (profiles <= high_c), axis=0).tolist(),
    )


@promise
def the_benchmark_of_2004() -> Iterator[Figure]:
    """With one peak a run or known absences: worst spectra .993, contributions .991; bands hold the truth."""
    X, S, C, absent = benchmark()
    fitted = np.linalg.lstsq(C, X, rcond=None)[0].sum(
        axis=1
    )  # the file's units of both don't belong together
    settings: dict[str, dict[str, Any]] = {
        "non-negative only": {},
        "one peak": {"unimodal": True},
        "absent where the file says so": {"absent": absent},
        "both": {"unimodal": True, "absent": absent},
    }
    for name, asked in settings.items():
        promised = bool(asked)
        with cpu_time() as clock:
            found = resolve(X, 4, runs=[51] * 4, **asked)
        worst_s, worst_c, order = cosines(found.contributions, found.spectra, S, C)
        yield Figure(f"{name}: worst cosine of spectra", worst_s, at_least=0.993 if promised else None)
        yield Figure(f"{name}: worst cosine of contributions", worst_c, at_least=0.991 if promised else None)
        yield Figure(f"{name}: CPU seconds", clock.cpu)
        bands = feasible_bands(found)
        inside = held(bands, order, S / S.sum(axis=1)[:, None], C * fitted)
        yield Figure(f"{name}: points of true profiles inside, worst", min(map(min, inside)), at_least=0.95)
        yield Figure(f"{name}: widest band over the peak", float(bands.widths.max()))
    if pymcr_is_here():
        for peaks in (False, True):
            name = "pyMCR, one peak" if peaks else "pyMCR"
            C_, S_ = resolved_by_pymcr(X, 4, [51] * 4, unimodal=peaks)
            worst_s, worst_c, _ = cosines(C_, S_, S, C)
            yield Figure(f"{name}: worst cosine of spectra", worst_s)
            yield Figure(f"{name}: worst cosine of contributions", worst_c)
    else:
        print("pyMCR is left out: it cannot be imported")


def minerals(seed: int, K: int, pure: bool, n: int = 150) -> tuple[Any, Any, Any]:
    """Mixtures of USGS minerals at 30 dB, with each mineral once alone or none above 80 %."""
    library = loadmat(folder() / "spectra/usgs_1995.mat")["datalib"][:, 3:].T.astype(float)
    library = library[np.all((library > 0) & (library < 1.2), axis=1)]
    rng = np.random.default_rng([seed, K, pure])
    chosen: list[Any] = []
    while len(chosen) < K:
        new = library[rng.integers(len(library))]
        if all(new @ old < 0.985 * np.linalg.norm(new) * np.linalg.norm(old) for old in chosen):
            chosen.append(new)
    S, C = np.array(chosen), rng.dirichlet(np.ones(K), 8 * n)
    C = np.vstack([np.eye(K), C[: n - K]]) if pure else C[C.max(axis=1) < 0.8][:n]
    clean = C @ S
    return clean + np.sqrt(np.mean(clean**2)) * 10**-1.5 * rng.standard_normal(clean.shape), C, S


def judged(found: Resolution, S: Any, C: Any) -> tuple[list[float], list[float], Bands]:
    """Points inside for each profile, and the bands."""
    order, _ = match_components(found.spectra, S, signed=True)
    bands = feasible_bands(found)
    return *held(bands, order, S, C), bands


@promise
def bands_hold_the_truth() -> Iterator[Figure]:
    """USGS mixtures at 30 dB, 3 to 5 minerals: the bands hold at least 95 % of the true profiles."""
    for name, pure, told in (
        ("pure samples", True, False),
        ("no pure samples", False, False),
        ("pure samples that are known", True, True),
    ):
        points: list[float] = []
        widths: list[float] = []
        for K in (3, 4, 5):
            for seed in range(SEED, SEED + PROBLEMS):
                X, C, S = minerals(seed, K, pure)
                absent = np.zeros(C.shape, bool)
                absent[:K] = ~np.eye(K, dtype=bool) & told
                spectra, profiles, bands = judged(resolve(X, K, absent=absent), S, C)
                points += spectra + profiles
                widths += bands.widths.ravel().tolist()
        kept = float(np.mean(np.array(points) >= 0.95))
        yield Figure(f"{name}: profiles with 95 % of their points inside", kept, at_least=0.95)
        yield Figure(f"{name}: points inside, worst profile", min(points))
        yield Figure(f"{name}: median width over the peak", float(np.median(widths)))
