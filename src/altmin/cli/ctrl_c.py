"""Ctrl-C at the shell: remembered from the first moment on, so that nothing that swallows it can hide it.

An exception alone isn't enough: one that is raised while Python runs a callback or while a compiled module is
imported is lost. So the handler takes a note of it as well, and the note is read before anything is written.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_pressed = False


def pressed() -> bool:
    """Whether Ctrl-C was pressed since the command began."""
    return _pressed


@contextmanager
def listening() -> Iterator[None]:
    """Take a note of Ctrl-C inside of this block; blocks may be nested, and the first one counts."""
    global _pressed
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before != signal.default_int_handler:
        yield  # heard already, or somebody else's business
        return
    _pressed = False
    unraisable = sys.unraisablehook
    signal.signal(signal.SIGINT, _heard)
    sys.unraisablehook = _lost
    try:
        yield
    finally:
        sys.unraisablehook = unraisable
        signal.signal(signal.SIGINT, before)


def last_call() -> None:
    """Raise if Ctrl-C was pressed; from here on it comes too late and is ignored."""
    if signal.getsignal(signal.SIGINT) == _heard:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _pressed:
        raise KeyboardInterrupt


def _heard(number: int, frame: FrameType | None) -> None:
    global _pressed
    _pressed = True
    if (
        signal.getsignal(signal.SIGINT) == _heard
    ):  # a fit has its own handler, ends in order, and calls this one
        raise KeyboardInterrupt


def _lost(what: Any) -> None:
    """Raise a Ctrl-C again that was raised where exceptions are dropped; not here, where they are as well."""
    if what.exc_type is KeyboardInterrupt:
        _thread.start_new_thread(_raise_soon, ())
    else:
        sys.__unraisablehook__(what)


def _raise_soon() -> None:
    time.sleep(0.05)
    _thread.interrupt_main()
