"""Compile a kernel with numba when it is first called, and keep it on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that numba compiles on its first call: releases the GIL, never runs in parallel.

    numba is imported only then. Where no folder for the compiled code can be written, the kernel is
    compiled anew in each process.
    """

    @cache
    def build() -> Callable[..., Any]:
        from numba import njit

        try:
            return njit(nogil=True, cache=True)(function)
        except RuntimeError:  # numba found no place for its cache
            return njit(nogil=True)(function)

    def call(*arguments: Any) -> Any:
        return build()(*arguments)

    call.__doc__ = function.__doc__
    call.__name__ = function.__name__
    return call
