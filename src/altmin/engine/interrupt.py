"""Ctrl-C: the first one ends the fit at the last update, a second one raises."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Stopped(Exception):
    """Raised between blocks after the first Ctrl-C; the round in progress counts for nothing."""


class InterruptFlag:
    """A context that turns the first SIGINT into a flag that the engine checks between blocks.

    Signals reach the main thread only: elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self.raised = False
        self._previous: Any = None

    def __enter__(self) -> InterruptFlag:
        if threading.current_thread() is threading.main_thread():
            found = signal.getsignal(signal.SIGINT)
            if found not in (None, signal.SIG_IGN):  # who ignores Ctrl-C wants to go on
                self._previous = found
                signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None

    def check(self) -> None:
        """Raise :class:`Stopped` if Ctrl-C was pressed (once: closing rounds then run to their end)."""
        if self.raised:
            raise Stopped

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._previous not in (signal.default_int_handler, signal.SIG_DFL):
            self._previous(number, frame)  # the caller's own handler hears of it too
        if self.raised:
            raise KeyboardInterrupt
        self.raised = True
