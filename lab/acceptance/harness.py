"""What acceptance scripts share: promises, figures, and CPU time that can be compared."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PROMISES: dict[str, Callable[[], Iterable[Figure]]] = {}


@dataclass
class Figure:
    """One measured number against what was promised.

    Parameters
    ----------
    what : str
        What was measured, with its setting.
    value : float
        The figure.
    at_most, at_least : float or None
        The promise.
    """

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        signs = {"<=": self.at_most, ">=": self.at_least}
        bounds = [f"{sign} {bound:.3g}" for sign, bound in signs.items() if bound is not None]
        return f"{self.what}: {self.value:.4g} ({', '.join(bounds) or 'for information'})"

    def to_dict(self) -> dict[str, Any]:
        """For figures.json."""
        return {**vars(self), "value": float(f"{self.value:.4g}"), "kept": bool(self.kept)}


def promise(function: Callable[[], Iterable[Figure]]) -> Callable[[], Iterable[Figure]]:
    """Register a function whose docstring's first line is the promise, and which yields figures."""
    PROMISES[f"{function.__module__}.{function.__name__}"] = function
    return function


@dataclass
class Clock:
    """CPU seconds of this process, all its threads together."""

    cpu: float = field(default=0.0)


@contextmanager
def cpu_time() -> Any:
    """Measure the CPU time of a with-block: fair on a shared machine, unlike the wall clock."""
    clock = Clock()
    begin = time.process_time()
    yield clock
    clock.cpu = time.process_time() - begin


def in_children(task: Callable[[int], str], n: int, each: int = 100, room: int = 4 << 30) -> list[str]:
    """What ``task`` says of each number below n, asked in processes that may die.

    Parameters
    ----------
    task : callable
        From a number to one line.
    n : int
        How many.
    each : int
        Numbers that a process is given; one that dies of a signal is followed by another.
    room : int
        Bytes that a process may ask for beyond what this one holds.

    Returns
    -------
    list of str
        The lines; 'signal ...' where the process died, also of an alarm after a minute.
    """
    found: list[str] = []
    while len(found) < n:
        begin, end = len(found), min(len(found) + each, n)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                _limit_memory(room)
                with os.fdopen(writer, "w", buffering=1) as out:
                    for number in range(begin, end):
                        signal.alarm(60)
                        out.write(task(number).replace("\n", " | ") + "\n")
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            found += lines.read().splitlines()
        status = os.waitpid(child, 0)[1]
        if len(found) < end:
            found.append(f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended")
    return found


def _limit_memory(room: int) -> None:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + room, resource.RLIM_INFINITY))


def data_folder() -> str | None:
    """The folder with the real data, or None (say what is missing)."""
    return os.environ.get("ALTMIN_DATA")
