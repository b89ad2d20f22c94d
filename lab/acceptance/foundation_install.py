"""A built wheel in an empty environment, and the two commands in a fresh clone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from harness import Figure, promise

ROOT = Path(__file__).parents[2]


def _readme_example() -> str:
    """The example of the README that needs no extra and saves a model."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return next(block for block in blocks if "topics.altmin" in block)


@promise
def wheel_runs_the_readme() -> Iterator[Figure]:
    """A built wheel installs into an empty environment and runs the README's example."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", name, str(ROOT)], check=True
        )
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        wheel = next(folder.glob("*.whl"))
        subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run([python, "-c", _readme_example()], cwd=folder, env=environment)
        written = (folder / "topics.altmin").exists()
        yield Figure("exit code", done.returncode, at_most=0)
        yield Figure("model files written", int(written), at_least=1)
        yield Figure("size of the wheel, kB", wheel.stat().st_size / 1000, at_most=1000)


@promise
def sdist_runs_its_tests() -> Iterator[Figure]:
    """A source distribution with its extras in an empty environment passes its own fast tests."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "hatchling", "build", "--directory", name]
        subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
        checked = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel])
        yield Figure("exit code of twine check --strict", checked.returncode, at_most=0)
        subprocess.run(["tar", "xzf", sdist, "-C", name], check=True)
        source = folder / sdist.name.removesuffix(".tar.gz")
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        subprocess.run(
            [python, "-m", "pip", "install", "-q", f"{sdist}[all,dev]", source / "lab"], check=True
        )
        tests = [python, "-m", "pytest", "-q", "-n", "2", "-m", "not slow", "tests"]
        yield Figure("exit code of its pytest", subprocess.run(tests, cwd=source).returncode, at_most=0)


@promise
def fresh_clone_works() -> Iterator[Figure]:
    """In a fresh clone with Python and make alone, `make demo` and `make test` succeed."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["git", "clone", "-q", str(ROOT), f"{name}/altmin"], check=True)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        for target in ("demo", "test"):
            done = subprocess.run(["make", target], cwd=f"{name}/altmin", env=environment)
            yield Figure(f"exit code of make {target}", done.returncode, at_most=0)
        pictures = list(Path(f"{name}/altmin/demo").glob("*.png"))
        yield Figure("pictures of the demo", len(pictures), at_least=1)


@promise
def oldest_dependencies_pass() -> Iterator[Figure]:
    """The fast tests pass with the oldest declared dependencies."""
    done = subprocess.run(["make", "test-oldest"], cwd=ROOT)
    yield Figure("exit code of make test-oldest", done.returncode, at_most=0)
