"""What decides the bits of a run is in the key of its checkpoint, each part by itself."""

from dataclasses import replace

import numpy as np
import pytest

from altmin.algorithms.nonnegative.and_nmf import AndNmf
from altmin.engine.checkpoint import problem_key

START = np.arange(6.0).reshape(2, 3)
ALGORITHM = AndNmf(2, start=START)
GIVEN = {"algorithm": ALGORITHM, "block_rows": 100, "shape": "3 columns", "seed": 0}


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": replace(ALGORITHM, start=START + 1)},
        {"algorithm": replace(ALGORITHM, start=START.reshape(3, 2))},
        {"algorithm": replace(ALGORITHM, start=START.view(np.int64))},
        {"algorithm": replace(ALGORITHM, n_components=3)},
        {"block_rows": 101},
        {"shape": "4 columns"},
        {"seed": 1},
        {"seed": None},
    ],
    ids=["an array", "its shape", "its dtype", "a number", "blocks", "shape", "seed", "no seed"],
)
def test_another_problem_has_another_key(change):
    assert problem_key(**GIVEN | change) != problem_key(**GIVEN)


def test_the_same_problem_has_the_same_key():
    again = replace(ALGORITHM, start=np.asfortranarray(START))
    assert problem_key(**GIVEN | {"algorithm": again}) == problem_key(**GIVEN)
