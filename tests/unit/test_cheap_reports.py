"""What makes reports cheap gives what the slow way gives."""

import numpy as np
import pytest

from altmin.guarantees.misfit import _correlated, _flipped, _third_moments, _thirds
from altmin.guarantees.residuals import inverse_gram, weighted_norms

RNG = np.random.default_rng(0)


def test_the_inverse_of_a_gram_matrix_is_the_pseudo_inverse_where_it_is_singular():
    J = RNG.standard_normal((40, 6))
    np.testing.assert_allclose(inverse_gram(J.T @ J), np.linalg.inv(J.T @ J), rtol=1e-8)
    J[:, 5] = J[:, 0] - J[:, 1]
    expected = np.linalg.pinv(J.T @ J, rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(inverse_gram(J.T @ J), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("d", [5, 80])
@pytest.mark.parametrize("same", [True, False])
def test_norms_of_weighted_sums(d, same):
    left = RNG.standard_normal((2000, d))
    right = left if same else RNG.standard_normal((2000, d + 1))
    strong = np.sign(left[:, 0] * right[:, 1]) + 0.1 * RNG.standard_normal(2000)
    weights = np.vstack([strong, RNG.standard_normal((3, 2000))])
    exact = [np.linalg.norm(left.T @ (w[:, None] * right), 2) for w in weights]
    found = weighted_norms(left, weights, right)
    assert found[0] == pytest.approx(exact[0], rel=1e-2 if d > 64 else 1e-9)
    np.testing.assert_allclose(found, exact, rtol=0.1 if d > 64 else 1e-9)
    assert (found <= np.array(exact) * (1 + 1e-9)).all()  # power iterations come from below


def test_third_moments_are_symmetric_sums_and_their_largest_are_found():
    u, r = RNG.standard_normal((200, 6)).astype(np.float32), RNG.standard_normal(200).astype(np.float32)
    r += u[:, 0] * u[:, 1] * u[:, 2]
    moments = np.einsum("n,ni,nj,nl->ijl", r, u, u, u)
    np.testing.assert_allclose(_third_moments(u, r), moments, rtol=1e-3, atol=1e-3)
    product, cube = _thirds([u], r)
    assert product == pytest.approx(np.linalg.norm(moments, 2, axis=(1, 2)).max(), rel=0.02)
    v = RNG.standard_normal((50_000, 6))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    assert cube > 0.98 * np.abs(np.einsum("ijl,ni,nj,nl->n", moments, v, v, v, optimize=True)).max()


def test_flips_without_the_jacobian_see_only_what_it_lacks():
    J, r = RNG.standard_normal((200, 5)), RNG.standard_normal(200)
    inverse = np.linalg.inv(J.T @ J)
    r -= J @ (inverse @ (J.T @ r))
    drawn = _flipped(r, J, inverse, np.random.default_rng(1))
    np.testing.assert_allclose(drawn @ J, 0.0, atol=1e-3)
    np.testing.assert_allclose(drawn[0], r / np.linalg.norm(r), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0, atol=1e-5)  # flips are as long
    terms = RNG.standard_normal((200, 20)).astype(np.float32)
    terms[:, 3] = r * np.abs(r).max()
    without = terms - J @ (inverse @ (J.T @ terms))
    # Functions of J alone say nothing, and what a function has of J changes nothing.
    found = _correlated(drawn, np.hstack([terms, J @ RNG.standard_normal((5, 3))]).astype(np.float32))
    np.testing.assert_allclose(found, _correlated(drawn, without.astype(np.float32)), rtol=1e-3)
    assert found.largest > 2
    assert np.isnan(_correlated(drawn, J.astype(np.float32)).total)
