"""Bad input of every kind to every estimator: a clear refusal, or a model whose numbers are finite."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("dask.array", reason="dask is not installed")

_spec = importlib.util.spec_from_file_location("adversary", Path(__file__).with_name("adversary.py"))
adversary = importlib.util.module_from_spec(_spec)
sys.modules["adversary"] = adversary  # dataclasses look their module up
_spec.loader.exec_module(adversary)

TABLE = list(adversary.cells())
AXES = ("subject", "kind", "fault", "method")
MET = {(axis, getattr(cell, axis)): cell for cell in TABLE for axis in AXES}  # each value of an axis once
FAST = list(dict.fromkeys([*TABLE[::53], *MET.values()]))


def failures(chosen):
    found = {str(cell): adversary.attempt(cell) for cell in chosen}
    return {cell: what for cell, what in found.items() if what not in ("refused", "finite")}


def test_a_part_of_the_table_in_a_few_seconds():
    assert failures(FAST) == {}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("subject", sorted({cell.subject for cell in TABLE}))
def test_the_whole_table(subject):
    assert failures(cell for cell in TABLE if cell.subject == subject) == {}
