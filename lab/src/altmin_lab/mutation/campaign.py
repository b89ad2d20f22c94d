"""Plant bugs one at a time in a copy of the tree, run the tests that reach each, and keep one line a bug."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

from altmin_lab.mutation.operators import Mutant, draw
from altmin_lab.mutation.reach import FOLDER, PART, SINCE, Reach

# A copy needs what tests read: the sources, the tests, and the files that tests of pages and packages open.
LEFT_OUT = (
    ".git",
    ".venv*",
    "_build",
    "gallery",
    "generated",
    "mathjax",
    "*.pyc",
    "results",
    "mutation",
)
NO_END = "no end"
# No compiled function calls one of another file, so a changed file is all that has to be compiled again,
# unless it is the one that compiles.
COMPILER = "kernels/compiled.py"
# Most bugs are caught by the quickest tests; only the others pay for collecting all files.
FIRST_LOOK = 1.5


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


def survey(root: Path, folder: Path, only: Sequence[str] = ()) -> int:
    """Run the fast tests once and write down what each of them calls.

    Parameters
    ----------
    root : Path
        The project's folder.
    folder : Path
        Where it is written.
    only : sequence of str
        Files of tests, to add what is new to what is known; by default all is looked at again.

    Returns
    -------
    int
        Pytest's exit code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = f"{SINCE}-{len(list(folder.glob('*.json')))}"
    if not only:
        for old in folder.glob("*.json"):
            old.unlink()
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "altmin_lab.mutation.reach"]
    command += list(only) or ["-n", "2"]
    environment = {**os.environ, FOLDER: str(folder.resolve()), PART: part, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode


def run(
    root: Path,
    out: Path,
    *,
    count: int,
    seed: int,
    rooms: Collection[str] = (),
    jobs: int = 2,
    limit: float = 10.0,
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
    rooms : collection of str
        Parts of the package to draw from; by default all.
    jobs : int, default=2
        Copies of the tree at work at once.
    limit : float, default=10
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
    for file in out.glob("seed-*.jsonl"):
        reach.catches.update(by_file(json.loads(line)["by"]) for line in file.read_text().splitlines())
    mutants = draw(package, count, seed, rooms)
    with tempfile.TemporaryDirectory(prefix="altmin-mutants-") as scratch, kept.open("a") as log:
        new = [mutant for mutant in mutants if mutant.key not in known]
        copies: Queue[Warm] = Queue()
        for number in range(jobs if new else 0):
            copies.put(Warm(root, Path(scratch) / str(number)))

        def one(mutant: Mutant) -> Trial:
            tests = reach.tests_for(mutant.path, mutant.line, str(package), limit)
            copy = copies.get()
            try:
                return copy(mutant, tests, reach.seconds)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            for done, trial in enumerate(pool.map(one, new), 1):
                log.write(trial.to_json() + "\n")
                log.flush()
                known[trial.mutant.key] = json.loads(trial.to_json())
                reach.catches[by_file(trial.by)] += 1
                say(f"{done}/{len(new)} {trial.fate}: {mutant_name(trial.mutant)}")
        while not copies.empty():
            copies.get().close()
    return [known[mutant.key] for mutant in mutants]


def by_file(test: str) -> str:
    """The file of a test that caught a bug."""
    return test.partition("::")[0]


def mutant_name(mutant: Mutant) -> str:
    """Where it is, and what kind of bug."""
    return f"{mutant.path}:{mutant.line} {mutant.operator}"


class Warm:
    """A copy of the tree with a warm Python beside it (:mod:`altmin_lab.mutation.warm`)."""

    def __init__(self, root: Path, to: Path) -> None:
        shutil.copytree(root, to, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        self.copy = to
        self.sound: set[str] = set()
        self.unsound: set[str] = set()
        path = os.pathsep.join([str(to / "src"), str(to / "lab" / "src")])
        self.server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm.py")), str(to)],
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=to,
        )  # fmt: skip

    def close(self) -> None:
        """No more questions."""
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()

    def __call__(self, mutant: Mutant, tests: list[str], seconds: Mapping[str, float]) -> Trial:
        """Plant, test, and take the bug out again. A test that fails without the bug, too, has no say."""
        while tests := [test for test in tests if test not in self.unsound]:
            with self._planted(mutant):
                for part in in_two(tests, seconds):
                    expected = sum(seconds.get(test, 1.0) for test in part)
                    code, by = self._pytest(part, expected, fresh=mutant.path == COMPILER)
                    if code:
                        break
            if code == 0:
                return Trial(mutant, "survived", len(tests))
            if by == NO_END or self._is_sound(by, tests):
                return Trial(mutant, "caught", len(tests), by)
        return Trial(mutant, "unreached", 0)

    @contextmanager
    def _planted(self, mutant: Mutant) -> Iterator[None]:
        """The bug in the file; afterwards the file and what is compiled of it are as they were."""
        file = self.copy / "src" / "altmin" / mutant.path
        right, times = file.read_text(), file.stat()
        beside = file.parent / "__pycache__"
        compiled = {kept: kept.read_bytes() for kept in beside.glob(f"{file.stem}.*.nb?")}
        file.write_text(mutant.plant(right))
        try:
            yield
        finally:
            file.write_text(right)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            for of_the_bug in beside.glob(f"{file.stem}.*"):
                of_the_bug.unlink()
            for kept, code in compiled.items():
                kept.write_bytes(code)

    def _is_sound(self, by: str, tests: list[str]) -> bool:
        """Whether what failed passes without the bug: one test, or the imports of all of them."""
        if by in self.sound:
            return True
        code, said = self._ask([by] if by in tests else ["--collect-only", *tests], 60.0, fresh=False)
        if code == 0:
            self.sound.add(by)
            return True
        gone = {by} if by in tests else {test for test in tests if f"not found: {self.copy / test}\n" in said}
        if not gone or gone == set(tests) != {by}:
            raise RuntimeError("tests that were surveyed are gone; run `altmin-lab mutate --survey` again")
        self.unsound |= gone
        return False

    def _pytest(self, tests: list[str], expected: float, *, fresh: bool) -> tuple[int, str]:
        """Exit code and the first test that failed. A bug that hangs or crashes is caught, too."""
        code, said = self._ask(tests, expected + 10, fresh=fresh)
        if code is None:
            return 1, NO_END
        return code, _first_failure(said, tests) if code else ""

    def _ask(self, words: list[str], seconds: float, *, fresh: bool) -> tuple[int | None, str]:
        """What pytest says to these words; ``fresh``: with an empty cache of compiled functions."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        with tempfile.TemporaryDirectory(prefix="altmin-cache-") as own:
            asked = {"tests": words, "cache": own if fresh else "", "seconds": seconds}
            print(json.dumps(asked), file=self.server.stdin, flush=True)
            answer = json.loads(self.server.stdout.readline())
        return answer["code"], answer["said"]


def in_two(tests: list[str], seconds: Mapping[str, float]) -> list[list[str]]:
    """Tests of the first look, and the others."""
    total, first = 0.0, 0
    while first < len(tests) and (not first or total + seconds.get(tests[first], 1.0) <= FIRST_LOOK):
        total += seconds.get(tests[first], 1.0)
        first += 1
    return [part for part in (tests[:first], tests[first:]) if part]


def _first_failure(said: str, tests: list[str]) -> str:
    """The test of the first line that says so; otherwise the last line, as of a crash."""
    lines = said.strip().splitlines()
    for line in lines:
        words = line.partition(" ")[2]
        named = [test for test in tests if words.startswith(test)]
        if line.startswith(("FAILED", "ERROR")) and named:
            return max(named, key=len)
    return lines[-1] if lines else "crashed"
