"""Loops compiled by numba on first use, cached on disk where that can be done."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

# Reordered when compiled, never by the number of threads: results stay deterministic.
_FAST_MATH = {"nnan", "nsz", "arcp", "contract", "reassoc"}


class compiled:
    """Decorator: compile a function (nopython, GIL released) when it is first called.

    numba is imported then, not before, so that ``import altmin`` costs nothing. The machine code goes to
    numba's cache; where no cache can be written (read-only installation, full disk) the function is
    compiled for this process alone. A compiled function may call others of its own file.

    Parameters
    ----------
    function : callable
        Loops over arrays, in numba's subset of Python.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function: Any = function
        self._dispatcher: Any = None
        self._cached = True

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        if self._dispatcher is None:
            self._dispatcher = self._compile(cache=True)
        try:
            return self._dispatcher(*args)
        except Exception:  # of a torn cache, which may raise anything: once more without it
            if not self._cached:
                raise
            self._cached = False
            self._dispatcher = self._compile(cache=False)
            return self._dispatcher(*args)

    def _compile(self, cache: bool) -> Any:
        import numba

        options = {"nogil": True, "fastmath": _FAST_MATH, "error_model": "numpy"}
        function = self._with_compiled_callees(cache)
        try:
            return numba.njit(cache=cache, **options)(function)
        except RuntimeError:  # numba found no folder that it may write to
            return numba.njit(**options)(function)

    def _with_compiled_callees(self, cache: bool) -> FunctionType:
        """The function, with the compiled ones that it calls as numba knows them."""
        code, scope = self._function.__code__, self._function.__globals__
        callees = {name: scope[name] for name in code.co_names if isinstance(scope.get(name), compiled)}
        known = {name: callee._compile(cache) for name, callee in callees.items()}
        function = FunctionType(code, {**scope, **known}, code.co_name)
        function.__module__, function.__qualname__ = self._function.__module__, self._function.__qualname__
        return function
