"""What the squares of a residual say about rows that follow another law."""

import numpy as np
import pytest

from altmin import FactorizationMachineRegressor
from altmin.guarantees.misfit import misfit
from altmin.guarantees.mixture import other_laws
from altmin.guarantees.residuals import influence, inverse_gram, robust_error

N = 4000


def linear(noise, other=0.0, n=N, seed=0):
    """Rows of y = x1 + other x1 in three rows of ten + noise; its residual, and how far the fit is off."""
    rng = np.random.default_rng(seed)
    J = np.column_stack([np.ones(n), rng.standard_normal((n, 4))])
    y = J[:, 1] * (1 + other * (rng.random(n) < 0.3)) + noise(J, rng)
    found = np.linalg.lstsq(J, y, rcond=None)[0]
    off = float(np.linalg.norm(found[1:] - np.eye(5)[1, 1:]))
    return y - J @ found, J, J @ found, off


def said(r, J, fitted):
    gram = J.T @ J
    return other_laws(r, J, gram, influence(J, inverse_gram(gram)), fitted[:, None], 1.0, first=1)


def even(size):
    return lambda J, rng: size * rng.standard_normal(len(J))


@pytest.mark.parametrize("level", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("other", [0.7, 2.0, -1.5])
def test_rows_of_another_law_are_seen_and_measured(level, other):
    r, J, fitted, off = linear(even(level), other)
    seen, hidden = said(r, J, fitted)
    assert off > 0.19
    assert 0.5 * off < seen < 1.6 * off
    assert hidden > seen


def test_even_noise_shows_none_and_hides_the_less_the_more_rows_there_are():
    found = [said(*linear(even(0.3), n=n)[:3]) for n in (300, 3000, 30_000)]
    assert max(seen for seen, _ in found) < 0.07
    hidden = [most for _, most in found]
    assert hidden[0] > 1.3 * hidden[1] > 1.7 * hidden[2]
    assert hidden[2] < 0.08


def test_rows_that_pull_the_fit_to_themselves_are_not_taken_for_quiet_ones():
    rng = np.random.default_rng(0)
    J = rng.exponential(size=(100, 8)) ** 2
    leverage = np.diag(J @ np.linalg.solve(J.T @ J, J.T))
    assert np.ptp(leverage) > 0.3
    r = np.sqrt(1 - leverage) * rng.choice([-1.0, 1.0], 100)  # as noise of one size leaves it
    assert said(r, J, J[:, 0]) == pytest.approx((0, 0), abs=1e-4)  # the root of what single precision leaves


def uneven(size, draw):
    return lambda J, rng: size * J[:, 1] * draw(rng, len(J)) + 0.1 * rng.standard_normal(len(J))


def test_uneven_noise_is_told_from_another_law_by_its_shape():
    shapes = {
        "normal": lambda rng, n: rng.standard_normal(n),
        "two values": lambda rng, n: rng.choice([-1.0, 1.0], n),
        "lean": lambda rng, n: rng.exponential(size=n) - 1.0,
    }
    found = {name: said(*linear(uneven(0.3, draw), n=4 * N)[:3]) for name, draw in shapes.items()}
    assert found["normal"][0] < 0.5 * min(found["two values"][0], found["lean"][0])
    assert found["normal"][1] < 0.5 * found["two values"][1]
    assert found["normal"][0] > 0.05  # what is left counts


def test_few_rows_do_not_tell_uneven_noise_by_its_shape():
    r, J, fitted, _ = linear(uneven(0.3, lambda rng, n: rng.standard_normal(n)), n=60)
    assert said(r, J, fitted)[0] > 0.06


def test_directions_are_found_that_nobody_named():
    r, J, _, off = linear(even(0.2), 1.0)
    assert said(r, J, J[:, 4])[0] > 0.5 * off


def test_columns_that_can_not_be_told_apart_are_no_error():
    r, J, fitted, _ = linear(even(0.2), 1.0)
    twice = np.hstack([J, J[:, 1:]])
    seen = other_laws(r, twice, twice.T @ twice, influence(twice, np.linalg.pinv(twice.T @ twice)),
                      fitted[:, None], 1.0, first=1)[0]  # fmt: skip
    assert np.isfinite(seen)
    assert seen > 0.1


def test_standard_errors_of_few_rows_are_vague():
    rng = np.random.default_rng(0)
    J = rng.choice([-1.0, 1.0], (900, 3))
    each = influence(J, np.eye(3) / 900)
    vague = [robust_error(each, np.eye(3) / 900, r, exact=False)[1]
             for r in (np.ones(900), np.where(np.arange(900) < 4, 1.0, 0.0))]  # fmt: skip
    assert vague == pytest.approx([1 / 30, 0.5])


def test_a_constant_is_one_function_and_not_hundreds():
    """A model without an intercept whose noise has a mean that is 4 standard errors from 0."""
    rng = np.random.default_rng(1)
    n, d = 1200, 30
    X = rng.standard_normal((n, d))
    J = X * X[:, :1]
    r = rng.standard_normal(n)
    r += 4 / np.sqrt(n) - r.mean()
    r -= J @ np.linalg.lstsq(J, r, rcond=None)[0]
    found = misfit(r, J, (X,), X, J[:, 0], further=np.ones((n, 1)))
    assert found.pattern < 3
    assert found.steps < 3


def test_noise_of_few_rows_is_noise():
    """Six rows for each parameter: what least squares takes from a residual, it takes from chance twice."""
    sums = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        J, r = rng.standard_normal((240, 40)), rng.standard_normal(240)
        r -= J @ np.linalg.lstsq(J, r, rcond=None)[0]
        found = misfit(r, J, (J[:, :20],), J[:, :20], J[:, 0], seed=seed)
        sums.append((found.pattern, found.steps))
    assert np.all(np.abs(np.mean(sums, axis=0)) < 0.9)


def test_the_square_of_a_two_valued_column_needs_the_rank_of_the_others():
    """M = aa' + bb', with b hardly anywhere but in the two-valued column: any square of it does."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(900) < 0.5, rng.standard_normal((900, 3))]).astype(float)
    said = []
    for rest in (1.0, 0.02):
        F = np.array([[0.5, 1.0, -1.0, 0.7], [1.0, rest, rest, -rest]])
        y = X.sum(axis=1) + np.sum((X @ F.T) ** 2, axis=1)
        y += 0.02 * y.std() * rng.standard_normal(900)
        report = FactorizationMachineRegressor(2, random_state=0).fit(X, y).guarantee_
        said.append((report["two_valued"].status, report.verdict == "unknown"))
    assert said == [("holds", False), ("violated", True)]
    usual = FactorizationMachineRegressor(2, random_state=0).fit(X[:, 1:], y).guarantee_
    assert "two_valued" not in [row.id for row in usual.conditions]


def test_columns_that_are_nearly_the_same_leave_numbers():
    """Single precision would make influences of such rows up, and leverages negative."""
    rng = np.random.default_rng(0)
    for apart in (0.0, 1e-5, 1e-3):
        J = rng.standard_normal((400, 6))
        J[:, 5] = J[:, 4] + apart * J[:, 5]
        gram, r = J.T @ J, rng.standard_normal(400)
        each = influence(J, inverse_gram(gram))
        leverage = np.einsum("ij,ij->i", each, J)
        assert np.all(leverage > -1e-3)
        assert leverage.sum() == pytest.approx(6 if apart else 5, rel=0.02)
        assert np.all(np.isfinite(other_laws(r, J, gram, each, J[:, :2], 1.0, first=0)))
