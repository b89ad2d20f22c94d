"""Small fits of every family are what they were: iterates, ends, reports, word by word and number by number.

Where a difference is meant, ``python tests/golden/renew.py`` writes the new values for a reviewer to read.
"""

import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
cases, described, renew = map(importlib.import_module, ("cases", "describe", "renew"))
KEPT = renew.read()


ALL = [pytest.param(name, marks=pytest.mark.names) if name == "constants" else name for name in cases.CASES]


@pytest.mark.parametrize("name", ALL)
def test_a_fit_is_what_it_was(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(described.describe(cases.CASES[name]()))
    assert described.differences(found, KEPT.get(name, {})) == []


def test_nothing_is_kept_of_cases_that_are_gone():
    assert set(KEPT) == set(cases.CASES)


def test_a_change_is_seen_and_rounding_is_not():
    def lines(scale):
        return list(
            described.describe({"a": np.arange(5.0) * scale, "b": (scale, "word", 3), "c": {"d": None}})
        )

    kept = dict(lines(1.0))
    assert described.differences(lines(1.0 + 1e-9), kept) == []
    assert len(described.differences(lines(1.001), kept)) == 2
    changed = lines(1.0)[:-1]
    assert described.differences(changed, kept) == ["c: is gone, was d None"]
    assert described.differences([("b", "1.0000000e+00, word, 4")], {"b": kept["b"]}) != []
    permuted = dict(described.describe({"a": np.arange(5.0)[::-1].copy()}))
    assert described.differences(list(permuted.items()), {"a": kept["a"]}) != []
