"""``altmin warm`` goes through every compiled loop, so that no first fit waits for the compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Solves for more than 5000 items at once: as long as the rest together.
_LEFT_OUT = {"solve_clicks"}

_NEVER_CALLED = """
import importlib, pkgutil
import altmin
from altmin.cli.warm import warm_up
from altmin.kernels.compiled import compiled

loops = {}
for module in pkgutil.walk_packages(altmin.__path__, "altmin."):
    if module.name.startswith(("altmin.kernels", "altmin.algorithms")):
        for item in vars(importlib.import_module(module.name)).values():
            if isinstance(item, compiled):
                loops[f"{item.__module__}.{item.__name__}"] = item
# Some are called by other compiled ones alone.
callees = {
    f"{callee.__module__}.{callee.__name__}"
    for loop in loops.values()
    for name in loop._function.__code__.co_names
    if isinstance(callee := loop._function.__globals__.get(name), compiled)
}
warm_up()
silent = [loop.__name__ for name, loop in loops.items() if name not in callees and loop._dispatcher is None]
print("never called:", *silent)
"""


@pytest.mark.slow
def test_every_compiled_loop_is_warmed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _NEVER_CALLED], capture_output=True, text=True, check=True, timeout=280
    )
    *lines, last = done.stdout.splitlines()
    assert set(last.removeprefix("never called:").split()) == _LEFT_OUT
    assert lines[-1].startswith("done in")


def test_the_command_is_listed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "altmin", "--help"], capture_output=True, text=True, check=True
    )
    assert " warm " in done.stdout
