"""Ctrl-C during a search: the fit in progress counts for nothing, and the search ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def heard() -> Iterator[Callable[[], bool]]:
    """A context in which Ctrl-C raises KeyboardInterrupt, also inside of a fit, and is remembered.

    A fit by itself ends early and returns what it has, so a search would never hear of it.

    Yields
    ------
    callable
        Whether Ctrl-C was pressed.
    """
    times: list[int] = []

    def press(number: int, frame: Any) -> None:
        times.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (None, signal.SIG_IGN):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield lambda: bool(times)
    finally:
        signal.signal(signal.SIGINT, before)
