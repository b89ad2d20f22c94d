"""The parameters of an estimator: declared once, each by a line with its type, its range and its default.

    class AND(ComponentsEstimator):
        n_components: Count = field(kw_only=False)
        decoder: Literal["threshold", "nnls"] = "threshold"

From these lines come the constructor (keyword-only but for fields that say otherwise, as type checkers know
from ``dataclass_transform``), and the constraints by which scikit-learn validates parameters before a fit.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, field
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeAlias,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from altmin.estimators.sklearn_bridge import Interval, StrOptions


class _Array(Protocol):
    """What NumPy can read as an array: ndarray, DataFrame, tensor."""

    def __array__(self, *arguments: Any, **options: Any) -> np.ndarray: ...


# numpy's own ArrayLike admits any string, and with it every misspelt option
Matrix: TypeAlias = Annotated[_Array | Sequence[Sequence[float]], "array-like"]
PathLike: TypeAlias = Annotated[str | os.PathLike[str], str, os.PathLike]
Seed: TypeAlias = Annotated[int | np.random.RandomState | None, "random_state"]
Verbosity: TypeAlias = Annotated[int, "verbose"]
Count: TypeAlias = Annotated[int, Interval(Integral, 1, None, closed="left")]
CountOrZero: TypeAlias = Annotated[int, Interval(Integral, 0, None, closed="left")]
NotNegative: TypeAlias = Annotated[float, Interval(Real, 0, None, closed="left")]
Positive: TypeAlias = Annotated[float, Interval(Real, 0, None, closed="neither")]
Share: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="neither")]
UpToOne: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="right")]

_PLAIN = {bool: "boolean", int: Integral, float: Real, NoneType: None}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Parameters:
    """A class whose annotations are its parameters, but for class variables and private names.

    A subclass inherits the parameters of its bases; one that it assigns without an annotation is settled
    there, and no parameter any more. A constructor that the class brings along stays as it is.
    """

    _parameters: ClassVar[dict[str, inspect.Parameter]] = {}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class its constructor and its constraints."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            return
        hints = _declared(cls)
        own = {name: _parameter(name, vars(cls).get(name, MISSING)) for name in hints}
        settled = set(vars(cls)) - set(own)
        inherited = {name: one for name, one in cls._parameters.items() if name not in settled}
        for name in own.keys() & vars(cls).keys():  # as a dataclass does: defaults are class attributes
            if own[name].default is inspect.Parameter.empty:
                delattr(cls, name)
            else:
                setattr(cls, name, own[name].default)
        # what is special about this estimator comes first, what all of them share comes last
        special = {name: one for name, one in own.items() if name not in inherited}
        cls._parameters = {**special, **inherited, **own}
        known = {**cls._parameter_constraints, **{name: _constraints(hint) for name, hint in hints.items()}}
        cls._parameter_constraints = {name: known[name] for name in cls._parameters}
        cls.__init__ = _constructor(cls._parameters)  # type: ignore[method-assign]


def _declared(cls: type) -> dict[str, Any]:
    """Name and type of the parameters that the body of the class itself declares."""
    names = [name for name in vars(cls).get("__annotations__", {}) if not name.startswith("_")]
    hints = get_type_hints(cls, include_extras=True)
    return {name: hints[name] for name in names if get_origin(hints[name]) is not ClassVar}


def _parameter(name: str, default: Any) -> inspect.Parameter:
    first = isinstance(default, Field) and not default.kw_only
    default = default.default if isinstance(default, Field) else default
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD if first else inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
    )


def _constructor(parameters: dict[str, inspect.Parameter]) -> Callable[..., None]:
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([first, *sorted(parameters.values(), key=lambda one: one.kind)])

    def __init__(*arguments: Any, **options: Any) -> None:
        try:
            bound = signature.bind(*arguments, **options)
        except TypeError as error:
            raise TypeError(f"{type(arguments[0]).__name__}() {error}") from None
        bound.apply_defaults()
        vars(bound.arguments.pop("self")).update(bound.arguments)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _constraints(hint: Any) -> list[Any]:
    """What scikit-learn's validation asks of a parameter of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return list(hint.__metadata__)
    if origin in (Union, UnionType):
        return [constraint for part in parts for constraint in _constraints(part)]
    if origin is Literal:
        return [StrOptions(set(parts))]
    return [_PLAIN.get(hint, origin or hint)]
