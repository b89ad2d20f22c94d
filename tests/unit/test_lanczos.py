"""The largest eigenvalue of a symmetric matrix, from products with vectors."""

import numpy as np
import pytest

from altmin.kernels.lanczos import largest_eigenvalue


def symmetric(n, seed=0):
    M = np.random.default_rng(seed).standard_normal((n, n))
    return M + M.T


@pytest.mark.parametrize("seed", range(3))
def test_as_many_steps_as_rows_give_the_eigenvalue_and_fewer_come_near_from_below(seed):
    M = symmetric(40, seed)
    exact, start = np.linalg.eigvalsh(M)[-1], np.random.default_rng(9).standard_normal(40)
    assert largest_eigenvalue(lambda v: M @ v, start, 40) == pytest.approx(exact, rel=1e-8)
    near = [largest_eigenvalue(lambda v: M @ v, start, steps) for steps in (1, 4, 16)]
    assert near == sorted(near) and near[0] < 0.5 * exact and 0.98 * exact < near[-1] <= exact * (1 + 1e-12)


def test_it_ends_where_nothing_new_is_left_to_look_at():
    products = []
    M = np.diag([3.0, 1.0, 1.0, 1.0])

    def times(v):
        products.append(v)
        return M @ v

    assert largest_eigenvalue(times, np.ones(4), 50) == pytest.approx(3.0)
    assert len(products) == 2  # only two different eigenvalues
    assert largest_eigenvalue(lambda v: 0.0 * v, np.ones(4), 5) == 0.0
