"""A warm Python that runs pytest in forks of itself: what altmin imports from elsewhere is loaded once.

It is started by path with the folder of a copy of the tree, and imports nothing of altmin itself, so that
each fork meets the bug in a fresh altmin. One line of JSON asks, one answers.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

WALL = 4.0  # seconds by the clock for each second of the processor: the machine may be busy


def in_child(work: Any) -> int:
    """Fork, do the work there, and return the child's number."""
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            code = work()
        except BaseException:
            code = 70
        sys.stdout.flush()
        os._exit(int(code))
    return child


def needed(names: Path) -> int:
    """Import all of altmin, and write down which modules of others that loads."""
    os.dup2(2, 1)  # the answers go there
    import altmin

    for module in pkgutil.walk_packages(altmin.__path__, "altmin."):
        with contextlib.suppress(BaseException):
            importlib.import_module(module.name)
    found = [
        name for name in sys.modules if name.partition(".")[0] not in ("altmin", "__main__", "__mp_main__")
    ]
    names.write_text(json.dumps(found))
    return 0


def named(folder: Path) -> list[str]:
    """Modules of others that the files below a folder import anywhere, also inside functions."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    return sorted(name for name in found if not name.startswith(("altmin", "playwright")))


def warm_up(scratch: Path) -> None:
    """Import what altmin and its tests need, but for altmin; what can't be imported alone is left to them."""
    names = scratch / "modules.json"
    os.waitpid(in_child(lambda: needed(names)), 0)
    found = json.loads(names.read_text()) if names.exists() else []
    plugins = [point.module for point in entry_points(group="pytest11")]
    lazily = [name for folder in ("src", "tests") for name in named(Path(folder))]
    for name in ("pytest", "_pytest.doctest", *plugins, *found, *lazily):
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    with contextlib.suppress(BaseException):  # a compiler that has compiled once is ready
        if "numba" in sys.modules:
            compiled = sys.modules["numba"].njit(nogil=True, fastmath=True, error_model="numpy")
            compiled(lambda x: x @ x)(sys.modules["numpy"].ones(3))
    gc.collect()
    gc.freeze()  # forks needn't look through it


def run_pytest(asked: dict[str, Any], said: Path) -> int:
    """In the child: the tests, with output into a file and a limit on the processor's seconds."""
    import pytest

    signal.signal(signal.SIGINT, signal.default_int_handler)
    seconds = int(asked["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if asked["cache"]:
        os.environ["NUMBA_CACHE_DIR"] = asked["cache"]
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = asked["cache"]
    with said.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    quiet = ["-q", "-x", "--no-header", "--tb=line", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*quiet, *asked["tests"]]))


def answer(asked: dict[str, Any], said: Path) -> dict[str, Any]:
    """Exit code (None: no end) and what pytest said."""
    said.write_text("")
    child = in_child(lambda: run_pytest(asked, said))
    until = time.monotonic() + WALL * asked["seconds"]
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {"code": None, "said": ""}
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests left behind
    code = os.waitstatus_to_exitcode(status)
    ended = code not in (-signal.SIGXCPU, -signal.SIGKILL)
    return {"code": code if ended else None, "said": said.read_text(errors="replace")}


def main() -> None:
    """Serve until there is no more input."""
    os.chdir(sys.argv[1])
    sys.path[0] = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="altmin-warm-") as scratch:
        warm_up(Path(scratch))
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), Path(scratch) / "said.txt")), flush=True)


if __name__ == "__main__":
    main()
