"""Which tests reach which functions: a pytest plugin that writes it down, and the choice of tests for a bug.

Calls are seen by ``sys.setprofile``, in all threads. Python doesn't see calls of compiled functions: a kernel
counts as reached by the tests of the functions that name it. What a fixture of wider scope does counts for
all tests of its file. What a test does in other processes isn't seen.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import altmin

ROOT = str(Path(altmin.__file__).parent) + os.sep
FOLDER = "ALTMIN_REACH"
PART = "ALTMIN_REACH_PART"
SINCE = "since"


@dataclass
class Reach:
    """Functions that each test calls, and how long it takes."""

    functions: dict[str, set[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Reach:
        """What the plugin wrote, all workers together; of a file that was looked at again, the last."""
        reach = cls()
        for part in sorted(folder.glob("*.json"), key=lambda part: part.stat().st_mtime_ns):
            kept = json.loads(part.read_text())
            if part.stem.startswith(SINCE):  # these files were looked at again, and have other tests now
                again = {test.partition("::")[0] for test in kept["functions"]}
                old = [test for test in reach.functions if test.partition("::")[0] in again]
                for test in old:
                    del reach.functions[test], reach.seconds[test]
            reach.functions |= {test: set(names) for test, names in kept["functions"].items()}
            reach.seconds |= kept["seconds"]
        if not reach.functions:
            raise FileNotFoundError(
                f"{folder}: nothing is known of the tests yet; run `altmin-lab mutate --survey`"
            )
        return reach

    def tests_for(self, path: str, function: str, source: str, limit: float) -> list[str]:
        """Tests that reach a function, quick ones first, as many as the time allows.

        Parameters
        ----------
        path, function : str
            Where the bug is; ``function`` is '' at the top of a module.
        source : str
            Text of the whole package, to look for what names the function where no test calls it.
        limit : float
            Seconds that the tests may take in all.

        Returns
        -------
        list of str
            Node ids.
        """
        found = self._calling(path, function)
        if not found:
            leaf = function.rpartition(".")[2]
            found = (
                {test for where in naming(leaf, source) for test in self._calling(*where)} if leaf else set()
            )
        if not found:
            found = {
                test for test, names in self.functions.items() if any(n.startswith(f"{path}:") for n in names)
            }
        chosen: list[str] = []
        total = 0.0
        for test in self._in_turns(found):
            seconds = self.seconds.get(test, 1.0)
            if total + seconds <= limit or not chosen:
                total += seconds
                chosen.append(test)
        return chosen

    def _in_turns(self, tests: set[str]) -> list[str]:
        """Quick tests first, each file's quickest before its others: tests of one file say much the same."""
        turn: dict[str, int] = defaultdict(int)
        ranked = []
        for test in sorted(tests, key=lambda test: (self.seconds.get(test, 1.0), test)):
            file = test.partition("::")[0]
            turn[file] += 1
            ranked.append((max(self.seconds.get(test, 1.0), 0.05) * turn[file], test))
        return [test for _, test in sorted(ranked)]

    def _calling(self, path: str, function: str) -> set[str]:
        if not function:
            return set()
        names = {f"{path}:{function}"}
        return {test for test, called in self.functions.items() if called & names}


def naming(name: str, package: str) -> Iterator[tuple[str, str]]:
    """Functions of the package that speak of a name: (path, function)."""
    seen, waiting = {name}, [name]
    while waiting:
        word = waiting.pop()
        for path, function, words in _speech(package):
            if word in words and function.rpartition(".")[2] not in seen:
                seen.add(function.rpartition(".")[2])
                waiting.append(function.rpartition(".")[2])
                yield path, function


_SPEECH: dict[str, list[tuple[str, str, frozenset[str]]]] = {}


def _speech(package: str) -> list[tuple[str, str, frozenset[str]]]:
    """(path, function, the names in it) of every function below a folder."""
    if package not in _SPEECH:
        rows = []
        for file in sorted(Path(package).rglob("*.py")):
            path = file.relative_to(package).as_posix()
            for function, node in functions_in(ast.parse(file.read_text())):
                words = {getattr(item, "id", getattr(item, "attr", "")) for item in ast.walk(node)}
                rows.append((path, function, frozenset(words)))
        _SPEECH[package] = rows
    return _SPEECH[package]


def functions_in(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Qualified names of functions and methods, with their nodes."""
    for child in ast.iter_child_nodes(tree):
        name = inside
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{inside}.{child.name}".lstrip(".")
            if isinstance(child, ast.FunctionDef):
                yield name, child
        yield from functions_in(child, name)


class Watch:
    """The plugin: ``pytest -p altmin_lab.mutation.reach`` with a folder in the environment."""

    def __init__(self) -> None:
        self.reach = Reach()
        self.shared: dict[str, set[str]] = defaultdict(set)
        self.now: set[str] = set()

    def look(self, frame: FrameType, event: str, _: Any) -> None:
        """Write down a call of altmin's code."""
        if event == "call":
            code = frame.f_code
            if code.co_filename.startswith(ROOT):
                self.now.add(f"{code.co_filename[len(ROOT) :]}:{code.co_qualname.replace('.<locals>', '')}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test from its fixtures to its end."""
        self.now = set()
        begin = time.perf_counter()
        sys.setprofile(self.look)
        threading.setprofile(self.look)
        try:
            result = yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        self.reach.functions[item.nodeid] = self.now
        self.reach.seconds[item.nodeid] = time.perf_counter() - begin
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[Any]:
        """What a fixture of a module or of the session does serves all tests of the file."""
        before = set(self.now)
        result = yield
        if fixturedef.scope != "function":
            self.shared[request.node.nodeid.partition("::")[0]] |= self.now - before
        return result

    def pytest_sessionfinish(self) -> None:
        """One file for each worker."""
        for test, names in self.reach.functions.items():
            names |= self.shared[test.partition("::")[0]]
        if self.reach.functions:
            name = os.environ.get("PYTEST_XDIST_WORKER", os.environ.get(PART, "main"))
            part = Path(os.environ[FOLDER]) / f"{name}.json"
            functions = {test: sorted(names) for test, names in self.reach.functions.items()}
            part.write_text(json.dumps({"functions": functions, "seconds": self.reach.seconds}))


def pytest_configure(config: pytest.Config) -> None:
    """Register the watch where a survey asks for it."""
    if os.environ.get(FOLDER):
        config.pluginmanager.register(Watch(), "altmin-reach")
