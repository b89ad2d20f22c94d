"""What a survey sees of compiled loops, which Python doesn't look into."""

import sys
from pathlib import Path

import numpy as np

from altmin.kernels import sparse_machine
from altmin.kernels.compiled import compiled
from altmin_lab.mutation.reach import ROOT, Watch, lines_of, unwatched


def text_of(bits, path="kernels/sparse_machine.py"):
    source = Path(ROOT, path).read_text().splitlines()
    return "\n".join(line for number, line in enumerate(source, 1) if bits >> number & 1)


def test_a_kernel_that_is_called_counts_as_run_with_those_that_it_names():
    assert text_of(lines_of(sparse_machine.row_value)["kernels/sparse_machine.py"]).count("spread") > 1
    found = text_of(lines_of(sparse_machine.predict_rows)["kernels/sparse_machine.py"])
    for line in ("row[:] = 0.0", "value += 0.5 * q * q", "row[f] += sign * mu"):  # its own, and of two others
        assert line in found
    assert "def solve_systems" not in found


def test_calls_are_noted_and_made_without_a_look():
    watch, looks = Watch(), []
    call = unwatched(lambda kernel, x: looks.append(sys.gettrace()) or x + 1, watch)
    kernel = compiled(lambda x: x)
    look = lambda frame, event, _: None  # noqa: E731
    before = sys.gettrace()
    sys.settrace(look)
    try:
        assert call(kernel, 1) == 2
        assert sys.gettrace() is look
    finally:
        sys.settrace(before)
    assert looks == [None]
    assert watch.kernels == {kernel}
    watch.kernels = {sparse_machine.row_value}
    assert "value += 0.5 * q * q" in text_of(watch.seen()["kernels/sparse_machine.py"])
    assert np.isfinite(sparse_machine.row_value(np.zeros(5), 0.0)).all()
