"""Compiled sweeps and folded products equal their plain NumPy definitions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.algorithms.quadratic.lens import Lens, split_diagonal
from altmin.algorithms.quadratic.low_rank import Quadratic, symmetric_eigen
from altmin.algorithms.quadratic.one_pass import OnePass
from altmin.algorithms.quadratic.one_pass_maps import u_map, v_map
from altmin.algorithms.sparse.machine_maps import fields, look_map
from altmin.contract import Block, Info
from altmin.kernels.sparse_machine import column_systems, move_rows, predict_rows


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def state_of(rng, d, k, lens):
    algorithm = OnePass(k)
    state = algorithm.init(Info(n_features=d, dtype=np.dtype(float)), 0)
    U = np.linalg.qr(rng.standard_normal((d, k)))[0]
    model = Quadratic(U, rng.standard_normal((d, k)), rng.standard_normal(d), 0.3)
    state = replace(state, lens=lens, model=model, linear=rng.standard_normal(d))
    return algorithm, state


@pytest.mark.parametrize("whitened", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_passes_equal_their_definition(rng, whitened, kind, weighted):
    n, d, k = 700, 6, 2
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5) + 0.0
    y = rng.standard_normal(n)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    T = rng.standard_normal((d, d)) if whitened else rng.random(d) + 0.5
    lens = Lens(
        rng.standard_normal(d), T, 0.2, 1.5, rng.standard_normal(d), np.full(d, 9.0), np.zeros(d, bool)
    )
    algorithm, state = state_of(rng, d, k, lens)
    Z = (X - lens.centre) @ (T if whitened else np.diag(T))
    m = state.model
    M = (m.U @ m.V.T + m.V @ m.U.T) / 2
    r = (y - 0.2) / 1.5 - Z @ m.w - np.einsum("ij,jk,ik->i", Z, M, Z) - m.level + np.trace(M)
    weight = np.ones(n) if w is None else w
    block = Block(0, 0, sp.csr_array(X) if kind == "sparse" else X, y, w)

    stats = u_map(algorithm, algorithm._ready(state, "u"), block)
    gathered = lens.gather(stats["B"], stats["sums"])
    expected = np.column_stack([Z.T @ ((weight * r)[:, None] * (Z @ m.U)), Z.T @ (weight * r)])
    np.testing.assert_allclose(gathered, expected, atol=1e-8)
    np.testing.assert_allclose(stats["rr"], weight @ r**2)
    np.testing.assert_allclose(stats["squares"], (Z**2).T @ (weight * r), atol=1e-8)

    A = rng.standard_normal((d, k))
    state = algorithm._ready(replace(state, pending={"U": A}), "v")
    stats = v_map(algorithm, state, block)
    gathered = lens.gather(stats["B"], stats["sums"])
    np.testing.assert_allclose(gathered, Z.T @ ((weight * r)[:, None] * (Z @ A)), atol=1e-8)


def test_moment_pair_is_solved_exactly(rng):
    delta, D, kappa = rng.standard_normal((3, 5))
    phi = 3 + kappa**2
    blind = np.array([False] * 4 + [True])
    lens = Lens(np.zeros(5), np.ones(5), 0.0, 1.0, kappa, phi, blind)
    found, diagonal = split_diagonal(lens, delta + kappa * D, kappa * delta + (phi - 1) * D)
    np.testing.assert_allclose(found[:4], delta[:4])
    np.testing.assert_allclose(diagonal, np.where(blind, 0, D), atol=1e-12)


def test_eigenvalues_come_from_the_factors(rng):
    U, V = rng.standard_normal((2, 9, 3))
    values, vectors = symmetric_eigen(U, V)
    np.testing.assert_allclose((vectors * values) @ vectors.T, (U @ V.T + V @ U.T) / 2, atol=1e-12)


def test_systems_of_columns_are_derivatives_of_the_expected_loss(rng):
    n, d, k = 40, 6, 2
    X = sp.csr_array(rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5))
    m, S = rng.standard_normal((d, 1 + k)), rng.random((d, 1 + k))
    scale, target, kappa = rng.random(d) + 0.5, rng.standard_normal(n), rng.random(n)
    rows = (X.indptr, X.indices, X.data, scale)

    def expected_loss(m, S):
        f, variance = np.empty(n), np.empty(n)
        predict_rows(*rows, m, S, 0.3, f, variance)
        return np.sum(0.5 * kappa * (f**2 + variance) - target * f)

    none, (f, variance) = np.zeros((d, 1 + k)), np.empty((2, n))
    sums = np.zeros((n, 3 * k + 2))
    move_rows(*rows, 0, d, none, none, m, S, 0.3, sums, f, variance)
    for j in range(d):
        out = np.zeros((1, 6 + 3))
        own = (m[j : j + 1], S[j : j + 1])
        column_systems(*rows, j, j + 1, np.zeros(1, np.intp), *own, sums, target - kappa * f, kappa, out)
        for c in range(1 + k):
            step = np.zeros((d, 1 + k))
            step[j, c] = 1e-5
            slope = (expected_loss(m + step, S) - expected_loss(m - step, S)) / 2e-5
            assert -slope == pytest.approx(out[0, 6 + c], abs=1e-6)
            curvature = (expected_loss(m, S + step) - expected_loss(m, S - step)) / 1e-5
            assert curvature == pytest.approx(out[0, [0, 2, 5][c]], abs=1e-6)


def test_fields_are_ranges_of_columns_that_never_meet():
    X = np.zeros((4, 7))
    X[[0, 0, 1, 1, 2, 2, 3], [0, 3, 1, 4, 2, 5, 6]] = 1
    X[3, 2] = 1
    before = look_map(None, None, Block(0, 0, sp.csr_array(X), np.zeros(4)))["before"].value
    assert fields(before).tolist() == [0, 3, 7]
