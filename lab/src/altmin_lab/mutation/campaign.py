"""Plant bugs one at a time in a copy of the tree, run the tests that reach each, and keep one line a bug."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

from altmin_lab.mutation.operators import Mutant, draw
from altmin_lab.mutation.reach import FOLDER, Reach

# A copy needs what tests read: the sources, the tests, and the files that tests of pages and packages open.
LEFT_OUT = (
    ".git",
    ".venv*",
    "_build",
    "gallery",
    "generated",
    "mathjax",
    "__pycache__",
    "results",
    "mutation",
)


@dataclass(frozen=True)
class Trial:
    """A bug and what became of it: 'caught', 'survived' or 'unreached' (no test calls the function)."""

    mutant: Mutant
    fate: str
    n_tests: int
    by: str = ""

    def to_json(self) -> str:
        """One line."""
        return json.dumps({**asdict(self), "package": self.mutant.package, "key": self.mutant.key})


def survey(root: Path, folder: Path) -> int:
    """Run the fast tests once and write down what each of them calls; returns pytest's exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "-m",
        "not slow",
        "-p",
        "altmin_lab.mutation.reach",
    ]
    environment = {**os.environ, FOLDER: str(folder.resolve()), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode


def run(
    root: Path,
    out: Path,
    *,
    count: int,
    seed: int,
    jobs: int = 2,
    limit: float = 60.0,
    say: Callable[[str], None],
) -> list[dict[str, object]]:
    """Draw bugs, run what isn't known yet, and return all lines.

    Parameters
    ----------
    root : Path
        The project's folder.
    out : Path
        Folder of ``reach/`` (see :func:`survey`) and of ``seed-N.jsonl``.
    count, seed : int
        How many bugs, drawn with which seed.
    jobs : int, default=2
        Copies of the tree at work at once.
    limit : float, default=60
        Seconds that the tests of one bug may take.
    say : callable
        Told of each bug as it ends.

    Returns
    -------
    list of dict
        One for each bug, in the order of the draw.
    """
    package = root / "src" / "altmin"
    reach = Reach.read(out / "reach")
    kept = out / f"seed-{seed}.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    known = {line["key"]: line for line in lines}
    mutants = draw(package, count, seed)
    with tempfile.TemporaryDirectory(prefix="altmin-mutants-") as scratch, kept.open("a") as file:
        copies: Queue[Path] = Queue()
        for number in range(jobs):
            copies.put(_copy(root, Path(scratch) / str(number)))

        def one(mutant: Mutant) -> Trial:
            copy = copies.get()
            try:
                tests = reach.tests_for(mutant.path, mutant.function, str(package), limit)
                return _try(mutant, copy, tests, limit)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            new = [mutant for mutant in mutants if mutant.key not in known]
            for done, trial in enumerate(pool.map(one, new), 1):
                file.write(trial.to_json() + "\n")
                file.flush()
                known[trial.mutant.key] = json.loads(trial.to_json())
                say(f"{done}/{len(new)} {trial.fate}: {mutant_name(trial.mutant)}")
    return [known[mutant.key] for mutant in mutants]


def mutant_name(mutant: Mutant) -> str:
    """Where it is, and what kind of bug."""
    return f"{mutant.path}:{mutant.line} {mutant.operator}"


def _copy(root: Path, to: Path) -> Path:
    shutil.copytree(root, to, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    return to


def _try(mutant: Mutant, copy: Path, tests: list[str], limit: float) -> Trial:
    """Plant, test, and take the bug out again."""
    if not tests:
        return Trial(mutant, "unreached", 0)
    file = copy / "src" / "altmin" / mutant.path
    right = file.read_text()
    file.write_text(mutant.plant(right))
    try:
        code, by = _pytest(copy, tests, limit, fresh=mutant.package == "kernels")
    finally:
        file.write_text(right)
    return Trial(mutant, "survived" if code == 0 else "caught", len(tests), by)


def _pytest(copy: Path, tests: list[str], limit: float, *, fresh: bool) -> tuple[int, str]:
    """Exit code and the first failure. A bug that hangs or crashes is caught, too.

    A compiled function that calls one of another file isn't compiled again when that file changes: bugs in
    kernels get a cache of their own.
    """
    names = copy / "chosen-tests.txt"
    names.write_text("\n".join(tests))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy / "lab" / "src")]),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with tempfile.TemporaryDirectory(prefix="altmin-cache-") as cache:
        environment["NUMBA_CACHE_DIR"] = cache if fresh else str(copy / ".numba")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--tb=line", f"@{names}"]
        process = subprocess.Popen(
            command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=4 * limit + 120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 1, "no end"
    return process.returncode, next(
        _failures(said), said.strip().rpartition("\n")[2] if process.returncode else ""
    )


def _failures(said: str) -> Iterator[str]:
    for line in said.splitlines():
        if line.startswith(("FAILED", "ERROR")):
            yield line.partition(" - ")[0].split(" ", 1)[1]
