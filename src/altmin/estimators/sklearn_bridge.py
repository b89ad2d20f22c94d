"""Everything that altmin takes from scikit-learn's private modules, in one place and with types.

scikit-learn keeps parameter validation private. When it moves, this is the only file to mend.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    callback_management_context = None

__all__ = [
    "AT_LEAST_ONE",
    "NOT_NEGATIVE",
    "POSITIVE",
    "CallbackSupportMixin",
    "Constraints",
    "Interval",
    "Matrix",
    "PathLike",
    "Seed",
    "StrOptions",
    "callback_management_context",
    "check_sample_weight",
    "fit_context",
    "one_of",
]

P = ParamSpec("P")
R = TypeVar("R")
Constraints: TypeAlias = dict[str, list[Any]]
PathLike: TypeAlias = str | os.PathLike[str]
Seed: TypeAlias = int | np.random.RandomState | None


class _Array(Protocol):
    """What NumPy can read as an array: ndarray, DataFrame, tensor."""

    def __array__(self, *arguments: Any, **options: Any) -> np.ndarray: ...


# numpy's own ArrayLike admits any string, and with it every misspelt option
Matrix: TypeAlias = _Array | Sequence[Sequence[float]]

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


def one_of(*options: str) -> Any:
    """The constraint of a parameter that is one of these strings."""
    return StrOptions(set(options))


def fit_context(method: Callable[P, R]) -> Callable[P, R]:
    """Validate the parameters before the method runs; its type stays what it is.

    Parameters
    ----------
    method : callable
        ``fit`` or ``partial_fit`` of an estimator.

    Returns
    -------
    callable
        The method with scikit-learn's validation around it.
    """
    wrapped: Callable[P, R] = _fit_context(prefer_skip_nested_validation=True)(method)
    return wrapped
