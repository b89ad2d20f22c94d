"""Secants end the polish of a dictionary in fewer passes, at the same atoms."""

from types import SimpleNamespace

import numpy as np
import pytest

import altmin.algorithms.dictionary.polish as polish_module
from altmin import CompleteDictionaryLearning
from altmin.algorithms.dictionary.polish import accelerated
from altmin.datasets import make_sparse_dictionary
from altmin.metrics import atom_error


def passes_to(tolerance, *, secants, change=0.0):
    """Passes of a linear map, another one for each row, until all rows are where they end."""
    rng = np.random.default_rng(0)
    end = rng.standard_normal((4, 6))
    rates = rng.choice([0.05, 0.2, 0.4], (4, 6))  # of each entry: three different ones a row
    W, past = end + rng.standard_normal((4, 6)), None
    for n in range(1, 100):
        state = SimpleNamespace(W=W, secants=past, progress=SimpleNamespace(change=change))
        W = end + rates * (W - end)
        if secants:
            W, past = accelerated(state, W)
        if np.abs(W - end).max() < tolerance:
            return n
    return np.inf


def test_as_many_secants_as_rates_end_a_linear_map():
    assert passes_to(1e-8, secants=True) <= 7
    assert passes_to(1e-8, secants=False) >= 20


def test_no_secant_is_taken_while_the_supports_still_change():
    assert passes_to(1e-8, secants=True, change=0.5) == passes_to(1e-8, secants=False)


@pytest.mark.parametrize("density", [0.1, 0.3])
def test_the_polish_takes_fewer_passes_to_the_same_atoms(density, monkeypatch):
    problem = make_sparse_dictionary(3000, 20, density=density, random_state=3)
    quick = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    monkeypatch.setattr(polish_module, "accelerated", lambda state, W: (W, None))
    plain = CompleteDictionaryLearning(random_state=0).fit(problem.X)
    assert atom_error(quick.components_, problem.components) < 1e-13
    assert atom_error(plain.components_, problem.components) < 1e-13
    count = [sum(row["phase"] == "polish" for row in model.history_) for model in (quick, plain)]
    assert count[0] < 0.9 * count[1]
