"""Checkpoints: a killed, extended or damaged fit ends in the bits of one that was never stopped."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import make_dir
from altmin.engine.checkpoint import CheckpointError

PROBLEM = make_dir(3000, 200, 10, random_state=0)

SCRIPT = """
import sys
import numpy as np
from altmin import AND
from altmin.datasets import make_dir
problem = make_dir(3000, 200, 10, random_state=0)
model = AND(10, threshold=(.1, 1.01), max_iter=400, n_jobs=1, checkpoint=sys.argv[1]).fit(problem.X)
np.save(sys.argv[2], model.components_)
"""


def model(folder=None, **options):
    return AND(10, threshold=(0.1, 1.01), n_jobs=1, checkpoint=folder, **options)


def run_script(folder, out, kill_after=None):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), str(out)])
    if kill_after is None:
        assert process.wait() == 0
        return
    while process.poll() is None and not (folder / "checkpoint-0.altmin").exists():
        time.sleep(0.01)
    time.sleep(kill_after)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_killed_and_resumed_gives_the_same_bits(tmp_path, seed):
    whole = model(max_iter=400).fit(PROBLEM.X)
    folder, out = tmp_path / "checkpoint", tmp_path / "components.npy"
    run_script(folder, out, kill_after=float(np.random.default_rng(seed).uniform(0, 0.15)))
    assert not out.exists()
    run_script(folder, out)
    np.testing.assert_array_equal(np.load(out), whole.components_)


def test_a_larger_max_iter_goes_on_from_where_the_fit_ended(tmp_path):
    first = model(tmp_path, max_iter=10).fit(PROBLEM.X)
    assert first.n_iter_ == 10
    longer = model(tmp_path, max_iter=25).fit(PROBLEM.X)
    whole = model(max_iter=25).fit(PROBLEM.X)
    np.testing.assert_array_equal(longer.components_, whole.components_)
    assert [row["iteration"] for row in longer.history_] == list(range(1, 26))
    strip = [{k: v for k, v in row.items() if k != "seconds"} for row in longer.history_]
    assert strip == [{k: v for k, v in row.items() if k != "seconds"} for row in whole.history_]


def test_a_finished_fit_is_not_done_again(tmp_path):
    first = model(tmp_path, max_iter=10).fit(PROBLEM.X)
    again = model(tmp_path, max_iter=10).fit(PROBLEM.X)
    np.testing.assert_array_equal(first.components_, again.components_)
    assert again.history_ == first.history_  # even its timings: nothing was computed anew


def test_threads_and_verbosity_are_no_other_problem(tmp_path, capsys):
    model(tmp_path, max_iter=5).fit(PROBLEM.X)
    other = AND(10, threshold=(0.1, 1.01), n_jobs=2, verbose=1, checkpoint=tmp_path, max_iter=8)
    other.fit(PROBLEM.X)
    np.testing.assert_array_equal(other.components_, model(max_iter=8).fit(PROBLEM.X).components_)


@pytest.mark.parametrize("change", ["data", "parameter"])
def test_another_problem_is_refused(tmp_path, change):
    model(tmp_path, max_iter=3).fit(PROBLEM.X)
    with pytest.raises(CheckpointError, match={"data": "other rows", "parameter": "another problem"}[change]):
        if change == "data":
            model(tmp_path, max_iter=3).fit(PROBLEM.X + 1.0)
        else:
            AND(9, threshold=(0.1, 1.01), checkpoint=tmp_path, max_iter=3).fit(PROBLEM.X)


def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(tmp_path):
    model(tmp_path, max_iter=10).fit(PROBLEM.X)
    files = sorted(tmp_path.glob("checkpoint-*.altmin"), key=os.path.getmtime)
    assert len(files) == 2
    files[-1].write_bytes(files[-1].read_bytes()[:-100])
    resumed = model(tmp_path, max_iter=15).fit(PROBLEM.X)
    np.testing.assert_array_equal(resumed.components_, model(max_iter=15).fit(PROBLEM.X).components_)


def test_two_damaged_checkpoints_are_refused_with_a_reason(tmp_path):
    model(tmp_path, max_iter=10).fit(PROBLEM.X)
    for file in tmp_path.glob("checkpoint-*.altmin"):
        file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(CheckpointError, match="no sound checkpoint"):
        model(tmp_path, max_iter=10).fit(PROBLEM.X)


@pytest.mark.parametrize("seed", range(6))
def test_a_flipped_bit_is_noticed(tmp_path, seed):
    """Whatever bit of the newest checkpoint: the fit goes on from the one before, to the same bits."""
    model(tmp_path, max_iter=10).fit(PROBLEM.X)
    newest = max(tmp_path.glob("checkpoint-*.altmin"), key=os.path.getmtime)
    rng = np.random.default_rng(seed)
    data = bytearray(newest.read_bytes())
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    newest.write_bytes(bytes(data))
    resumed = model(tmp_path, max_iter=15).fit(PROBLEM.X)
    np.testing.assert_array_equal(resumed.components_, model(max_iter=15).fit(PROBLEM.X).components_)


def test_a_half_written_checkpoint_of_a_killed_fit_is_cleared_away(tmp_path):
    (tmp_path / ".checkpoint-0.altmin.123.tmp").write_bytes(b"half")
    model(tmp_path, max_iter=3).fit(PROBLEM.X)
    assert not list(tmp_path.glob(".*.tmp"))
