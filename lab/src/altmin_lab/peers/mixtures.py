"""pyMCR, where it can be imported: multivariate curve resolution by alternating least squares.

It is no requirement of the laboratory: put an unpacked wheel of it on ``PYTHONPATH``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.nonnegative.pure_samples import spa
from altmin.kernels.unimodal import one_peak


def pymcr_is_here() -> bool:
    """Whether it can be imported."""
    return find_spec("pymcr") is not None


def resolved_by_pymcr(
    X: NDArray[Any], K: int, runs: Sequence[int], *, unimodal: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Contributions and spectra by its MCR-AR with non-negative least squares, from the purest spectra."""
    from pymcr.constraints import Constraint, ConstraintNonneg
    from pymcr.mcr import McrAR

    logging.getLogger("pymcr").setLevel(logging.ERROR)

    class OnePeak(Constraint):
        """Each column has one peak in each run."""

        def transform(self, A: NDArray[Any]) -> NDArray[Any]:
            begins = np.cumsum([0, *runs])
            for k in range(A.shape[1]):
                for low, high in pairwise(begins):
                    A[low:high, k] = one_peak(np.ascontiguousarray(A[low:high, k]))
            return A

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = [ConstraintNonneg(), *([OnePeak()] if unimodal else [])]
        model = McrAR(max_iter=500, tol_increase=5, c_regr="NNLS", st_regr="NNLS", c_constraints=asked)
        model.fit(X, ST=np.maximum(X[spa(X, K)], 1e-12))
    return model.C_opt_, model.ST_opt_
