"""What a person sees while a fit runs, and what Ctrl-C leaves behind."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
pytest.importorskip("pty", reason="this system has no pseudo-terminals")

import pty

from altmin.datasets import make_dir

LONG = ["fit", "AND", "X.npy", "-n", "8", "--set", "threshold=(.1, 1.001)", "--set", "max_iter=1000000"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal")
    np.save(path / "X.npy", make_dir(2000, 60, 8, concentration=1.0, random_state=0).X)
    return path


def screen(text, columns):
    """The lines that a terminal of this width shows in the end."""
    lines, column = [""], 0
    for sign in text:
        if sign == "\r":
            column = 0
        elif sign == "\n":
            lines.append("")
        else:
            if column == columns:
                lines.append("")
                column = 0
            lines[-1] = lines[-1][:column] + sign + lines[-1][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


@pytest.mark.parametrize(
    "columns", [60, *(pytest.param(wide, marks=pytest.mark.slow) for wide in (80, 120)), 200]
)
def test_progress_leaves_one_line(folder, columns):
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    words = [sys.executable, "-m", "altmin", *LONG[:-1], "max_iter=300", "--out", f"{columns}.altmin"]
    fit = subprocess.Popen(words, cwd=folder, stderr=theirs, stdout=subprocess.PIPE, text=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    said = fit.communicate()[0]
    assert fit.returncode == 0 and "guarantee" in said and "iterations" not in said
    text = shown.decode().replace("\r\n", "\n")
    assert "iteration" in text  # it did live
    lines = [line for line in screen(text, columns) if line]
    assert len("".join(lines)) < 250 and lines[0].startswith("altmin: max_iter: all 300 iterations were"), (
        lines
    )


def test_nothing_is_shown_where_nobody_looks(folder):
    words = [sys.executable, "-m", "altmin", *LONG[:-1], "max_iter=30", "--out", "quiet.altmin"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.count("AND: ") == 1


@pytest.mark.parametrize("seconds", [0.8, 2.0, 4.0])
@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c_is_130_and_leaves_a_model_only_where_one_was_asked_for(folder, seconds, keep):
    out = folder / f"stopped-{seconds}-{keep}.altmin"
    words = [sys.executable, "-m", "altmin", *LONG, "--out", out.name, *(["--keep-partial"] if keep else [])]
    fit = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        time.sleep(seconds)
        fit.send_signal(signal.SIGINT)
        said = fit.communicate(timeout=60)[0]
    finally:
        fit.kill()  # a fit that doesn't hear must not outlive its test
    # before our own handler is there Python ends the process by the signal: a shell says 130 of that, too
    assert fit.returncode in (130, -signal.SIGINT), said
    assert not out.exists() or (keep and "model of an interrupted fit" in said)
