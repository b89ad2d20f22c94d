"""Threads of BLAS and OpenMP: how many there may be, and the limit of one around a fit."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import ThreadpoolController

_known: tuple[int, Any] = (0, None)
_lock = threading.RLock()
_limits = ExitStack()
_here = threading.local()
_limited = _inside = _granted = 0


@dataclass
class _Own:
    """Limits of one thread, of libraries that keep one for each thread."""

    inside: int = 0
    limits: ExitStack = field(default_factory=ExitStack)


def granted_threads() -> int:
    """As many threads as the caller's environment allows the libraries loaded so far."""
    with _lock:
        return _granted if _inside else _count_granted()


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which each library runs on the calling thread alone.

    The libraries' limit belongs to the process, not to a thread: so those who are inside are counted, the
    first one sets the limit and the last one puts back what the first has found. Fits in several threads
    don't change each other's bits. Contexts may end in any order: a generator's ends when it is exhausted.
    """
    global _inside
    own: _Own = _here.__dict__.setdefault("own", _Own())
    with _lock:
        _limit()
        _inside += 1
        own.inside += 1
        own.limits.enter_context(_pools().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            own.inside -= 1
            if not own.inside and own is _here.__dict__.get("own"):  # else left to the thread's next context
                own.limits.close()
            _inside -= 1
            if not _inside and _granted > 1:
                _elsewhere(_limits.close)


def _limit() -> None:
    """Limit what is loaded now; a library that came after the first fit began is limited by the next one."""
    global _limited, _granted
    if not _inside:
        _granted = _count_granted()
    if _granted > 1 and (not _inside or _limited != len(sys.modules)):
        _elsewhere(lambda: _limits.enter_context(_pools().limit(limits=1)))
        _limited = len(sys.modules)


def _elsewhere(action: Callable[[], Any]) -> None:
    """Do it in a thread that ends at once.

    The one that set a limit owns it as long as it lives: others couldn't put back what was there.
    """
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()


def _count_granted() -> int:
    return max((pool["num_threads"] for pool in _pools().info()), default=1)


def _pools() -> Any:
    """The libraries' thread pools; looked for again (5 ms) only when a module was imported since."""
    global _known
    if _known[0] != len(sys.modules):
        _known = (len(sys.modules), ThreadpoolController())
    return _known[1]
