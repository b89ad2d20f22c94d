"""Compiled sweeps and folded products equal their plain NumPy definitions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.algorithms.quadratic.lens import Lens, split_diagonal
from altmin.algorithms.quadratic.low_rank import Quadratic, symmetric_eigen
from altmin.algorithms.quadratic.one_pass import OnePass
from altmin.algorithms.quadratic.one_pass_maps import u_map, v_map
from altmin.contract import Block, Info
from altmin.kernels.fm_als import Machine, als


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


def test_sweeps_never_raise_the_penalised_loss(rng):
    X = sp.csc_array(rng.standard_normal((300, 8)) * (rng.random((300, 8)) < 0.5))
    y = rng.standard_normal(300)
    start = Machine(0.0, np.zeros(8), np.zeros(8), rng.standard_normal((2, 8)), np.array([1.0, -1.0]))

    def objective(machine):
        ridge = np.sum(machine.w**2) + np.sum(machine.D**2) + 2 * np.sum(machine.V**2)
        return np.sum((y - machine.values(X)) ** 2) + ridge

    before = objective(start)
    for sweeps in (1, 3, 10):
        machine, losses = als(
            X, y, np.ones(300), start, square=np.ones(8, bool), alpha=(1.0, 2.0), sweeps=sweeps, tol=0.0
        )
        assert objective(machine) <= before + 1e-9
        np.testing.assert_allclose(losses[-1], np.mean((y - machine.values(X)) ** 2))
        before = objective(machine)
