"""What altmin takes from scikit-learn's private modules, and its base classes as type checkers see them.

scikit-learn keeps parameter validation private and has no types. When it moves, this is the only file to
mend; without types for its base classes a misspelt option or attribute of an estimator would go unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar

from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

if TYPE_CHECKING:

    class BaseEstimator:
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def _validate_params(self) -> None: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        """Codes of the training data, and frames as output."""

        def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any: ...
        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Names of the columns of the codes."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...

    class RegressorMixin:
        """R^2 of the predictions."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class ClassifierMixin(RegressorMixin):
        """Accuracy of the predictions."""

    class CallbackSupportMixin:
        """Callbacks, where this scikit-learn has them."""

    callback_management_context: Any
else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
    )

    try:
        from sklearn.callback import CallbackSupportMixin
        from sklearn.callback._callback_support import callback_management_context
    except ImportError:  # scikit-learn before 1.9
        callback_management_context = None

        class CallbackSupportMixin:
            """Nothing: this scikit-learn has no callbacks."""


__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "Interval",
    "RegressorMixin",
    "StrOptions",
    "TransformerMixin",
    "callback_management_context",
    "check_sample_weight",
    "fit_context",
]

P = ParamSpec("P")
R = TypeVar("R")


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
