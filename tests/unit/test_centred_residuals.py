"""Targets that are lost or another row's shrink a model: the rest leans one way, a few rows far the other."""

import numpy as np
import pytest

from altmin import RankOneSensing
from altmin.guarantees.dictionary_atoms import atom_facts
from altmin.guarantees.misfit import _middle


def law(rng, n=3000, noise=0.3):
    f = rng.standard_normal(n) + 0.5 * rng.standard_normal(n) ** 2
    return f, f + noise * rng.standard_normal(n)


def residual(f, y):
    J = np.column_stack([np.ones(len(f)), f])
    return y - J @ np.linalg.lstsq(J, y, rcond=None)[0]


@pytest.mark.parametrize("seed", range(3))
def test_lost_and_mixed_up_targets_are_seen(seed):
    rng = np.random.default_rng(seed)
    f, y = law(rng)
    rows = rng.random(len(y)) < 0.1
    assert _middle(residual(f, np.where(rows, 0.0, y)), f) > 4.5
    mixed = y.copy()
    mixed[rows] = rng.permutation(mixed[rows])
    assert _middle(residual(f, mixed), f) > 4.5


@pytest.mark.parametrize("seed", range(3))
def test_noise_that_depends_on_the_row_or_is_skewed_is_no_sign_of_it(seed):
    rng = np.random.default_rng(seed)
    f, _ = law(rng)
    for noise in (0.3, 0.3 * np.abs(f)):
        assert _middle(residual(f, f + noise * rng.standard_normal(len(f))), f) < 4.5
    assert _middle(residual(f, f + 0.3 * rng.exponential(1.0, len(f))), f) < 4.5


def test_a_report_with_exogenous_declared_says_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y = (X @ rng.standard_normal(5)) ** 2
    y = np.where(rng.random(4000) < 0.15, 0.0, y + 0.4 * y.std() * rng.standard_normal(4000))
    report = RankOneSensing(1, random_state=0).fit(X, y).guarantee(X, y, effort="cheap", assume="exogenous")
    assert report.verdict != "recovered"
    assert "centred" in [row.id for row in report.decisive if row.status == "violated"]


def test_signs_that_go_together_are_counted_in_all_rows_of_sign_codes():
    """Rows of +-1 codes are equal by chance; among distinct ones too few would be left to see it."""
    rng = np.random.default_rng(1)
    S = rng.choice([-1.0, 1.0], (900, 5)) * (rng.random((900, 5)) < 0.15)
    both = (S[:, 0] != 0) & (rng.random(900) < 0.5)
    S[both, 1] = S[both, 0]
    A = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    assert atom_facts(S @ A, A).sign_related.max() > 6
