"""Properties of the factorization machine that hold for any data."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from altmin import FactorizationMachineRegressor


def table(seed, n, d):
    rng = np.random.default_rng(seed)
    kinds = [
        rng.standard_normal(n),
        rng.exponential(size=n),
        rng.integers(0, 2, n).astype(float),
        np.ones(n),
        1e6 + rng.standard_normal(n),
        rng.standard_cauchy(n),
    ]
    X = np.column_stack([kinds[i % len(kinds)] * (1 + i) for i in range(d)])
    return X, rng.standard_normal(n) + X[:, 0] ** 2


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 60), st.integers(1, 8), st.integers(1, 4))
@example(17, 17, 7, 4)  # stopped while its loss is six times that of the mean
def test_predictions_are_finite_and_no_worse_than_the_mean(seed, n, d, rank):
    X, y = table(seed, n, d)
    model = FactorizationMachineRegressor(rank, max_iter=15, random_state=0).fit(X, y)
    values = model.predict(X)
    assert np.isfinite(values).all()
    assert np.mean((values - y) ** 2) <= np.var(y) * (1 + 1e-6) + 1e-12


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.floats(-5, 5), st.floats(-3, 3))
def test_affine_targets_and_columns_carry_over(seed, shift, power):
    X, y = table(seed, 80, 3)
    scale = 10.0**power
    fit = lambda A, b: FactorizationMachineRegressor(2, max_iter=10, random_state=0).fit(A, b).predict(A)  # noqa: E731
    plain = fit(X, y)
    np.testing.assert_allclose(fit(X, scale * y + shift), scale * plain + shift, rtol=1e-5, atol=1e-5 * scale)
    np.testing.assert_allclose(fit(scale * X + shift, y), plain, rtol=1e-4, atol=1e-4)


def test_the_cut_of_the_input_and_the_threads_leave_no_trace():
    X, y = table(3, 9000, 6)
    one = FactorizationMachineRegressor(2, batch_size=1500, max_iter=12, random_state=0, n_jobs=1).fit(X, y)
    blocks = [(X[:100], y[:100]), (X[100:5000], y[100:5000]), (X[5000:], y[5000:])]
    cut = FactorizationMachineRegressor(2, batch_size=1500, max_iter=12, random_state=0, n_jobs=2).fit(blocks)
    np.testing.assert_array_equal(one.coef_, cut.coef_)
