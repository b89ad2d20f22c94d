"""The claims ledger is resumable, keeps what it found until the code beneath changes, and never a failure."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

from altmin_lab import digest
from altmin_lab.finding import judge_claim, key_of, load_finding
from altmin_lab.ledger import CANNOT, Claim, Evidence, all_claims
from altmin_lab.reproduce import _groups, choose

CLAIMS = "altmin_lab.claims"


def command(out, *words):
    return [sys.executable, "-m", "altmin_lab.cli.app", "reproduce", "--quick", "--out", str(out), *words]


@pytest.mark.parametrize(
    "name",
    [
        "and_stage_lemma",
        pytest.param("and_theorem_5", marks=pytest.mark.slow),
        pytest.param("fm_state_size", marks=pytest.mark.slow),
        pytest.param("dictionary_theorem_1", marks=pytest.mark.slow),
        pytest.param("approximate_theorem_17", marks=pytest.mark.slow),
    ],
)
def test_the_digest_covers_every_module_that_a_claim_loads(name):
    """Static reading of imports is checked against what is in memory after a claim has run."""
    code = (
        "import sys, importlib, json\n"
        "module, name = sys.argv[1:]\n"
        "getattr(importlib.import_module(module), name)(True)\n"
        "print(json.dumps([m for m in sys.modules if m.split('.')[0] == 'altmin']))"
    )
    module = all_claims()[name].experiment.__module__
    done = subprocess.run([sys.executable, "-c", code, module, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout)) - set(digest.TABLES_OF_CONTENTS)
    assert loaded <= digest.modules_beneath(module)


def test_the_digest_leaves_out_what_a_claim_does_not_use():
    beneath = digest.modules_beneath(f"{CLAIMS}.fm_theorem15")
    assert "altmin.algorithms.quadratic.one_pass" in beneath
    assert "altmin.algorithms.nonnegative.and_nmf" not in beneath
    assert "altmin_lab.cli.app" not in beneath


def test_the_digest_changes_with_code_far_beneath(monkeypatch, tmp_path):
    before = digest.digest_of(f"{CLAIMS}.and_theorems")
    other = digest.digest_of(f"{CLAIMS}.fm_theorem15")
    changed = tmp_path / "gradient.py"
    changed.write_bytes(digest._file("altmin.kernels.gradient").read_bytes() + b"# changed\n")
    true = digest._file
    monkeypatch.setattr(digest, "_file", lambda m: changed if m == "altmin.kernels.gradient" else true(m))
    for function in (digest.digest_of, digest.modules_beneath, digest._imports):
        function.cache_clear()
    assert digest.digest_of(f"{CLAIMS}.and_theorems") != before
    assert digest.digest_of(f"{CLAIMS}.fm_theorem15") == other
    digest.digest_of.cache_clear()


def test_a_finding_is_kept_and_a_failure_is_not(tmp_path):
    def good(quick):
        return Evidence("holds", "it does", "small", {"error": 0.5})

    def bad(quick):
        raise MemoryError("no room")

    for experiment in (good, bad):
        experiment.__module__ = f"{CLAIMS}.and_theorems"
    kept, lost = (Claim(e.__name__, "beyond", "here", "says", e) for e in (good, bad))
    assert load_finding(kept, True, tmp_path) is None
    found = judge_claim(kept, True, tmp_path)
    again = load_finding(kept, True, tmp_path)
    assert again.cached
    assert again.measured == found.measured
    assert load_finding(kept, False, tmp_path) is None  # another size is another run
    assert judge_claim(lost, True, tmp_path).verdict == "cannot be run here"
    assert load_finding(lost, True, tmp_path) is None
    (tmp_path / f"{key_of(kept, True)}.json").write_text("{torn")
    assert load_finding(kept, True, tmp_path) is None


def test_claims_that_share_a_preparation_stay_in_one_process():
    groups = _groups(choose(["images_face", "and_theorem_5"]))
    assert sorted(len(group) for group in groups) == [1, 2]


def test_words_that_match_nothing_are_an_error():
    with pytest.raises(ValueError, match="no claim matches"):
        choose(["Riemann"])


def _children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc to find the workers")
def test_a_killed_run_leaves_no_worker_and_goes_on_where_it_was(tmp_path):
    names = ("and_theorem_1", "and_theorem_5", "and_prop", "fm_state", "fm_noise", "dictionary_lemma_1")
    words = [w for name in names for w in ("--only", name)]
    running = subprocess.Popen(command(tmp_path, *words, "--jobs", "1"), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (done := list(tmp_path.glob("results/*.json"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    workers = _children(running.pid)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    deadline = time.monotonic() + 20
    while any(map(_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(_alive, workers))
    kept = {path: path.stat().st_mtime_ns for path in done}
    assert not (tmp_path / "report.html").exists()

    second = subprocess.run(command(tmp_path, *words), capture_output=True, text=True)
    assert second.returncode == 0, second.stderr
    findings = json.loads((tmp_path / "report.json").read_text())
    assert len(findings) == 6
    assert sum(finding["cached"] for finding in findings) >= len(kept) >= 1
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert CANNOT not in {f["verdict"] for f in findings}
    assert "kept" in second.stdout


@pytest.mark.slow
def test_ctrl_c_ends_the_run_at_once_and_keeps_no_half_fitted_claim(tmp_path):
    words = command(tmp_path, "--only", "and_figure_1")
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "results").exists():
        time.sleep(0.05)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "Traceback" not in said
    assert not list(tmp_path.glob("results/*.json"))
