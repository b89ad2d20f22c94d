"""Per-row columns belong to a checkpoint: they come back, and damaged ones are never used."""

import os
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from altmin.contract import Done, Round, record
from altmin.engine import Settings, open_source, run
from altmin.engine.checkpoint import Checkpoint, CheckpointError, Saved
from altmin.engine.columns import DiskColumn
from altmin.io.container import write_container

X = np.random.default_rng(0).standard_normal((1000, 3))


@record
class Level:
    phase: str = "start"
    total: Any = None


@record
class Smooth:
    """Each iteration reads a column, writes its next version, and sums it up."""

    def init(self, info, seed):
        return Level()

    def next_round(self, state):
        match state.phase:
            case "start":
                return Round(start, name="start", writes=("level",), then=self.go_on)
            case "steps":
                return Round(
                    step, name="step", iteration=True, reads=("level",), writes=("level",), then=self.go_on
                )
        return Done()

    def go_on(self, state, stats):
        return Level("steps", stats)

    def finish(self, state):
        return replace(state, phase="done")

    def measure(self, state):
        return {"change": 1.0}


def start(algorithm, state, block):
    level = block.X[:, 0].copy()
    return float(level.sum()), {"level": level}


def step(algorithm, state, block):
    level = 0.5 * block.columns["level"] + np.sin(block.X[:, 1] + state.total)
    return float(level.sum()), {"level": level}


def go(max_iter, checkpoint=None):
    settings = Settings(max_iter=max_iter, checkpoint=checkpoint, seed=0)
    return run(Smooth(), open_source(X), settings)


@pytest.mark.parametrize("first", [0, 1, 3])
def test_a_resumed_run_finds_its_columns(tmp_path, first):
    go(first, tmp_path)
    assert go(8, tmp_path).state == go(8).state


def test_a_damaged_column_is_never_used(tmp_path):
    go(4, tmp_path)
    columns = sorted(tmp_path.glob("column-level-*.altmin"), key=os.path.getmtime)
    columns[-1].write_bytes(columns[-1].read_bytes()[:-20])
    assert go(8, tmp_path).state == go(8).state  # from the checkpoint before
    for column in tmp_path.glob("column-level-*.altmin"):
        column.write_bytes(b"garbage")
    with pytest.raises(CheckpointError, match="no sound checkpoint"):
        go(9, tmp_path)


def test_old_versions_are_cleared_away(tmp_path):
    go(30, tmp_path)
    assert len(list(tmp_path.glob("column-level-*.altmin"))) <= 2


def test_a_column_on_disk_stays_there(tmp_path):
    """Written and read in parts: neither brings the column to memory."""
    column = DiskColumn((800_000, 16), np.dtype(np.float64))  # 102 MB
    for low in range(0, 800_000, 50_000):
        column.write(low, np.full((50_000, 16), float(low)))
    saved = Saved(None, 1, 1, 0, (0, 0), (), {}, 0)
    tracemalloc.start()
    Checkpoint(tmp_path, "a problem", in_memory=1 << 20).write(saved, {"level": column})
    _, found = Checkpoint(tmp_path, "a problem", in_memory=1 << 20).load()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found["level"], DiskColumn)
    assert peak < 51e6  # five or six parts
    assert np.array_equal(np.asarray(found["level"]), np.asarray(column))
    assert len(list(tmp_path.glob("column-level-1-*.altmin"))) == 13


def test_a_missing_part_of_a_column_is_damage(tmp_path):
    saved = Saved(None, 1, 1, 0, (0, 0), (), {}, 0)
    Checkpoint(tmp_path, "a problem").write(saved, {"level": np.zeros((3_000_000,))})
    (tmp_path / "column-level-1-1.altmin").unlink()
    with pytest.raises(CheckpointError, match=r"column-level-1-1.altmin is missing"):
        Checkpoint(tmp_path, "a problem").load()


@pytest.mark.parametrize("change", [{"rows": 7}, {"rows": 11}, {"rows": -1}, {"rows": "10"}, {"parts": None}])
def test_parts_that_do_not_make_up_the_column_are_damage(tmp_path, change):
    saved = Saved(None, 1, 1, 0, (0, 0), (), {}, 0)
    Checkpoint(tmp_path, "a problem").write(saved, {"level": np.arange(10.0)})
    write_container(tmp_path / "column-level-1-0.altmin", np.arange(10.0), {"rows": 10, "parts": 1, **change})
    with pytest.raises(CheckpointError, match="no sound checkpoint"):
        Checkpoint(tmp_path, "a problem").load()
