"""Which tests reach which lines: a pytest plugin that writes it down, and the choice of tests for a bug.

Lines are seen by ``sys.settrace``, in all threads. Python doesn't see into compiled functions: of a kernel
that is called all lines count as run, and those of the kernels that it names. What a fixture of wider scope
does counts for all tests of its file. What a test does in other processes isn't seen. A test that is marked
``names`` looks at what modules and classes give names to: it counts for all lines outside of functions.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import altmin
from altmin.kernels.compiled import compiled

ROOT = str(Path(altmin.__file__).parent) + os.sep
FOLDER = "ALTMIN_REACH"
PART = "ALTMIN_REACH_PART"
SINCE = "since"
Lines = dict[str, int]  # path: a number whose bit n says that line n was run


@dataclass
class Reach:
    """Lines that each test runs, and how long it takes."""

    lines: dict[str, Lines] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    catches: Counter[str] = field(default_factory=Counter)  # of each file of tests, bugs until now
    looks: set[str] = field(default_factory=set)  # tests that look at what modules give names to
    _breadths: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Reach:
        """What the plugin wrote, all workers together; of a file that was looked at again, the last."""
        reach = cls()
        for part in sorted(folder.glob("*.json"), key=lambda part: part.stat().st_mtime_ns):
            kept = json.loads(part.read_text())
            if part.stem.startswith(SINCE):  # these files were looked at again, and have other tests now
                again = {test.partition("::")[0] for test in kept["lines"]}
                old = [test for test in reach.lines if test.partition("::")[0] in again]
                for test in old:
                    del reach.lines[test], reach.seconds[test]
            for test, paths in kept["lines"].items():
                reach.lines[test] = {path: int(bits, 16) for path, bits in paths.items()}
            reach.seconds |= kept["seconds"]
            reach.looks |= set(kept.get("names", ()))
        if not reach.lines:
            raise FileNotFoundError(
                f"{folder}: nothing is known of the tests yet; run `altmin-lab mutate --survey`"
            )
        return reach

    def tests_for(self, path: str, line: int, package: str, limit: float) -> list[str]:
        """Tests that reach a line, quick ones first, as many as the time allows.

        Parameters
        ----------
        path : str
            The file, relative to the package.
        line : int
            Where the bug is.
        package : str
            The package's folder. Where no test runs the line, those count that run another of its function,
            then those that run what names the function (or the constant), then those that run the file.
        limit : float
            Seconds that the tests may take in all.

        Returns
        -------
        list of str
            Node ids.
        """
        places = [place for place in _places(package) if place.path == path and place.holds(line)]
        found: set[str] = set()
        looking = set() if places else self.looks
        if places:
            inner = max(places, key=lambda place: place.first)
            found = self._running(path, 1 << line) or self._running(path, inner.bits)
        names = {place.name for place in places} | _assigned(package, path, line)
        while names and not found:
            naming = [place for place in _places(package) if names & place.words and place not in places]
            found = {test for place in naming for test in self._running(place.path, place.bits)}
            places += naming
            names = {place.name for place in naming}
        found = found | looking
        if not found:
            found = self._running(path, -1)
        chosen: list[str] = []
        total = 0.0
        for test in self._in_turns(found):
            seconds = self.seconds.get(test, 1.0)
            if total + seconds <= limit or not chosen:
                total += seconds
                chosen.append(test)
        return chosen

    def _in_turns(self, tests: set[str]) -> list[str]:
        """Quick tests first, those that run little else, and those of files that caught much.

        A test that runs few lines is about these; of what every fit runs, tests of whole fits would otherwise
        take all the time. Tests of one file say much the same, so files take turns.
        """
        turn: dict[str, int] = defaultdict(int)
        ranked = []
        for seconds, test in sorted(
            (max(self.seconds.get(test, 1.0), 0.05) * self._breadth(test), test) for test in tests
        ):
            file = test.partition("::")[0]
            turn[file] += 1
            ranked.append((seconds * turn[file] / (1 + self.catches[file]), test))
        return [test for _, test in sorted(ranked)]

    def _breadth(self, test: str) -> int:
        """Lines that the test runs."""
        if test not in self._breadths:
            self._breadths[test] = sum(bits.bit_count() for bits in self.lines[test].values())
        return self._breadths[test]

    def _running(self, path: str, bits: int) -> set[str]:
        return {test for test, lines in self.lines.items() if lines.get(path, 0) & bits}


@dataclass(frozen=True)
class _Place:
    """A function: its lines but for ``def``, which importing runs, and the names that it speaks of."""

    path: str
    name: str
    first: int
    last: int
    words: frozenset[str]

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last

    @property
    def bits(self) -> int:
        return (1 << self.last + 1) - (1 << self.first)


@cache
def _trees(package: str) -> dict[str, ast.Module]:
    files = sorted(Path(package).rglob("*.py"))
    return {file.relative_to(package).as_posix(): ast.parse(file.read_text()) for file in files}


@cache
def _places(package: str) -> tuple[_Place, ...]:
    """Every function below a folder."""
    places = []
    for path, tree in _trees(package).items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                words = {getattr(item, "id", getattr(item, "attr", "")) for item in ast.walk(node)}
                first, last = node.body[0].lineno, node.end_lineno or node.lineno
                places.append(_Place(path, node.name, first, last, frozenset(words)))
    return tuple(places)


def _assigned(package: str, path: str, line: int) -> set[str]:
    """Names that a line outside of functions gives a value to, and the class that it stands in."""
    found = set()
    for node in ast.walk(_trees(package).get(path, ast.Module([], []))):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.ClassDef):
            if not node.lineno <= line <= (node.end_lineno or line):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            found |= {getattr(target, "id", getattr(target, "name", "")) for target in targets}
    return found - {""}


class Watch:
    """The plugin: ``pytest -p altmin_lab.mutation.reach`` with a folder in the environment."""

    def __init__(self) -> None:
        self.reach = Reach()
        self.shared: dict[str, Lines] = defaultdict(dict)
        # By a code's id, as its hash is slow: the code, and its lines that weren't run yet.
        self.left: dict[int, tuple[CodeType, set[int]]] = {}
        self.kernels: set[compiled] = set()

    def look(self, frame: FrameType, event: str, _: Any) -> Any:
        """Of a call of altmin's code, watch the lines."""
        code = frame.f_code
        if id(code) not in self.left:
            if not code.co_filename.startswith(ROOT):
                return None
            self.left[id(code)] = code, {line for *_, line in code.co_lines() if line}
        left = self.left[id(code)][1]

        def run(frame: FrameType, event: str, _: Any) -> Any:
            left.discard(frame.f_lineno)
            return run

        return run if left else None

    def seen(self) -> Lines:
        """Lines that were run since the test began."""
        lines: Lines = {}
        for code, left in list(self.left.values()):
            path = code.co_filename[len(ROOT) :]
            for line in {line for *_, line in code.co_lines() if line} - left:
                lines[path] = lines.get(path, 0) | 1 << line
        for kernel in list(self.kernels):
            add(lines, lines_of(kernel))
        return lines

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test from its fixtures to its end."""
        self.left, self.kernels = {}, set()
        begin = _spent()
        sys.settrace(self.look)
        threading.settrace(self.look)
        try:
            result = yield
        finally:
            sys.settrace(None)
            threading.settrace(None)
        self.reach.seconds[item.nodeid] = _spent() - begin
        self.reach.lines[item.nodeid] = self.seen()
        if item.get_closest_marker("names"):
            self.reach.looks.add(item.nodeid)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[Any]:
        """What a fixture of a module or of the session does serves all tests of the file."""
        result = yield
        if fixturedef.scope != "function":
            add(self.shared[request.node.nodeid.partition("::")[0]], self.seen())
        return result

    def pytest_sessionfinish(self) -> None:
        """One file for each worker."""
        for test, lines in self.reach.lines.items():
            add(lines, self.shared[test.partition("::")[0]])
        if self.reach.lines:
            name = os.environ.get("PYTEST_XDIST_WORKER", os.environ.get(PART, "main"))
            part = Path(os.environ[FOLDER]) / f"{name}.json"
            written = {
                test: {path: f"{bits:x}" for path, bits in lines.items()}
                for test, lines in self.reach.lines.items()
            }
            known = {"lines": written, "seconds": self.reach.seconds, "names": sorted(self.reach.looks)}
            part.write_text(json.dumps(known))


def _spent() -> float:
    """Seconds of the processor, also of processes that ended: the clock asks who else is at work."""
    return sum(os.times()[:4])


def add(to: Lines, other: Lines) -> None:
    """Lines of one more run."""
    for path, bits in other.items():
        to[path] = to.get(path, 0) | bits


@cache
def lines_of(kernel: compiled) -> Lines:
    """All lines of a kernel, and of those that it calls."""
    code, scope = kernel._function.__code__, kernel._function.__globals__
    path = code.co_filename[len(ROOT) :]
    lines = {path: sum(1 << line for line in {line for *_, line in code.co_lines() if line})}
    for name in code.co_names:
        if isinstance(callee := scope.get(name), compiled):
            add(lines, lines_of(callee))
    return lines


def unwatched(call: Callable[..., Any], watch: Watch) -> Callable[..., Any]:
    """Call without a look, as a watched compiler takes five times as long; a word that it was called."""

    def blind(kernel: compiled, *args: Any) -> Any:
        watch.kernels.add(kernel)
        look = sys.gettrace()
        sys.settrace(None)
        try:
            return call(kernel, *args)
        finally:
            sys.settrace(look)

    return blind


def pytest_configure(config: pytest.Config) -> None:
    """Register the watch where a survey asks for it."""
    if os.environ.get(FOLDER):
        watch = Watch()
        compiled.__call__ = unwatched(compiled.__call__, watch)  # type: ignore[method-assign]
        config.pluginmanager.register(watch, "altmin-reach")
