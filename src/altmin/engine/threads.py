"""Threads of BLAS and OpenMP: how many there may be, and the limit of one around a fit."""

from __future__ import annotations

import sys
from typing import Any

from threadpoolctl import ThreadpoolController

_known: tuple[int, ThreadpoolController] = (0, None)


def granted_threads() -> int:
    """As many threads as the caller's environment allows the libraries loaded so far."""
    return max((pool["num_threads"] for pool in _pools().info()), default=1)


def one_thread() -> Any:
    """A context in which each library runs on the calling thread alone. Process-wide: enter it once."""
    return _pools().limit(limits=1)


def _pools() -> ThreadpoolController:
    """The libraries' thread pools; looked for again (5 ms) only when a module was imported since."""
    global _known
    if _known[0] != len(sys.modules):
        _known = (len(sys.modules), ThreadpoolController())
    return _known[1]
