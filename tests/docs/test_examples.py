"""The gallery: short files that run, with one figure each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in EXAMPLES]
FOLDERS = {"recover", "stream", "robust", "diagnose", "compare", "scale"}
RUN = """
import sys, matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.show = lambda: None
exec(compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec"), {"__name__": "__main__"})
print("figures:", len(plt.get_fignums()))
"""


def test_every_question_has_examples():
    assert len(EXAMPLES) >= 15
    assert {path.parent.name for path in EXAMPLES} >= FOLDERS


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_short_and_begins_with_a_question(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    first = text.split('"""')[1].strip().split("\n\n")
    title, underline = first[0].split("\n")
    assert set(underline) == {"="} and len(underline) >= len(title)
    assert re.match(r"\*[^*]+\?\*", " ".join(first[1].split())), "the first paragraph asks a question"
    assert text.count("plt.show()") == 1, "one figure worth a slide"


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_runs_and_draws_one_figure(path, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("figures: 1"), done.stdout
