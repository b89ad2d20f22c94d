"""Compiled loops against a few plain lines of NumPy, with blocks of no, one and two rows among them."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.sparse.linalg import aslinearoperator
from sklearn.isotonic import IsotonicRegression

from altmin.kernels import counts, feasible, groups, masked, patches, peel, poisson_rows, sparse_machine
from altmin.kernels.contrasts import cube_score, huber_score
from altmin.kernels.correlation import RowScores, score_candidates, tie
from altmin.kernels.diffraction import CodedDiffraction, Diffraction, OperatorDesign
from altmin.kernels.gram import row_norms2, times, transpose_times
from altmin.kernels.lasso import lasso_codes
from altmin.kernels.unimodal import one_peak

SIZES = [0, 1, 2, 7]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# --- codes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_lasso_codes_meet_their_conditions(n, rng):
    """The gradient is the penalty where a code is on, and at most that where it is off."""
    atoms = rng.standard_normal((6, 5)) * np.array([1.0, 3.0, 0.2, 1.0, 0.0, 1.0])[:, None]
    X = rng.standard_normal((n, 5))
    codes = lasso_codes(X, atoms, 0.4, tol=1e-13)
    gradient = (X - codes @ atoms) @ atoms.T
    on = codes != 0
    assert (codes[:, 4] == 0).all()  # an atom of norm 0
    np.testing.assert_allclose(gradient[on], 0.4 * np.sign(codes[on]), atol=1e-9)
    assert (np.abs(gradient[~on]) <= 0.4 + 1e-9).all()
    if n == 7:
        assert 5 < on.sum() < 25
        rough = lasso_codes(X, atoms, 0.4, tol=1e-13, max_sweeps=1)
        assert not np.allclose(rough, codes)
        assert lasso_codes(X.astype("f4"), atoms, 0.4).dtype == np.float32


@pytest.mark.parametrize("n", SIZES)
def test_scores_of_contrasts(n, rng):
    Z = rng.standard_normal((n, 4))
    clipped = Z.copy()
    inside = huber_score(clipped, 0.8)
    np.testing.assert_array_equal(clipped, np.clip(Z, -0.8, 0.8))
    np.testing.assert_array_equal(inside, (np.abs(Z) <= 0.8).sum(axis=0))
    cubed = Z.copy()
    slope = cube_score(cubed)
    np.testing.assert_allclose(cubed, Z**3)
    np.testing.assert_allclose(slope, 3 * (Z**2).sum(axis=0))


@pytest.mark.parametrize("sparse", [False, True])
def test_products_are_those_of_the_dense_table(sparse, rng):
    table = rng.standard_normal((6, 4)) * (rng.random((6, 4)) < 0.5)
    X, Z = sp.csr_array(table) if sparse else table, rng.standard_normal((6, 3))
    np.testing.assert_allclose(times(X, Z[:4]), table @ Z[:4])
    np.testing.assert_allclose(transpose_times(Z, X), Z.T @ table)
    np.testing.assert_allclose(row_norms2(X), (table**2).sum(axis=1))


# --- holes and clicks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("nonnegative", [False, True])
def test_codes_of_rows_with_holes(n, nonnegative, rng):
    A, X = rng.standard_normal((3, 8)), rng.standard_normal((n, 8))
    X[rng.random((n, 8)) < 0.3] = np.nan
    codes = masked.masked_codes(X, A, nonnegative=nonnegative)
    assert codes.shape == (n, 3)
    for row, found in zip(X, codes, strict=True):
        B, y = A[:, ~np.isnan(row)].T, row[~np.isnan(row)]
        expected = nnls(B, y)[0] if nonnegative else np.linalg.lstsq(B, y, rcond=None)[0]
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_what_no_entry_says_anything_of_is_zero(rng):
    A, X = rng.standard_normal((3, 5)), rng.standard_normal((2, 5))
    A[1] = 0.0
    A[2, :3], X[1, 3:] = 0.0, np.nan
    for nonnegative in (False, True):
        codes = masked.masked_codes(X, A, nonnegative=nonnegative)
        assert codes[:, 1].tolist() == [0.0, 0.0]
        assert codes[1, 2] == 0.0
        if not nonnegative:
            np.testing.assert_allclose(codes[1, 0], X[1, :3] @ A[0, :3] / (A[0, :3] @ A[0, :3]))


def test_packed_matrices_are_symmetric_and_their_ridge_counts(rng):
    A = rng.standard_normal((3, 6))
    full = masked.unpack(masked.products(A), 3)
    np.testing.assert_allclose(full, np.einsum("iw,jw->wij", A, A))
    G = (A @ A.T)[np.triu_indices(3)][None]
    ridge, h = np.diag([0.5, 1.0, 2.0]) + 0.1, rng.standard_normal((1, 3))
    np.testing.assert_allclose(masked.masked_solve(G, h, ridge)[0], np.linalg.solve(A @ A.T + ridge, h[0]))


def test_factors_of_clicks_by_hand(rng):
    Y, base = rng.standard_normal((5, 2)), np.array([[2.0, 0.3], [0.3, 1.0]])
    clicks = sp.csr_array((rng.random((4, 5)) < 0.5).astype(float))
    clicks[2] = 0
    clicks.eliminate_zeros()
    found = np.full((4, 2), 9.0)
    masked.solve_clicks(clicks.indptr, clicks.indices, Y, base, found)
    for row, seen in zip(found, clicks.toarray() > 0, strict=True):
        np.testing.assert_allclose(row, np.linalg.solve(base + Y[seen].T @ Y[seen], Y[seen].sum(axis=0)))


# --- counts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("sparse", [False, True])
def test_ratios_and_divergence_of_counts(n, sparse, rng):
    Z, A = rng.random((n, 2)), rng.random((2, 5)) + 0.1
    X = rng.poisson(1.0, (n, 5)).astype(float)
    P = Z @ A
    ratio, divergence = counts.ratios(sp.csr_array(X) if sparse else X, Z, A)
    np.testing.assert_allclose(ratio.toarray() if sparse else ratio, X / P)
    logs = np.where(X > 0, X * np.log(np.where(X > 0, X, 1.0) / P), 0.0)
    np.testing.assert_allclose(divergence, np.sum(logs - X + P, axis=1))


@pytest.mark.parametrize("sparse", [False, True])
def test_improved_codes_are_the_likeliest_and_zeros_stay(sparse, rng):
    A, Z = rng.random((3, 9)) + 0.05, rng.random((6, 3)) * 5
    X = rng.poisson(Z @ A * 8).astype(float)
    Z[2, 1] = 0.0
    found = counts.improve_codes(sp.csr_array(X) if sparse else X, Z.copy(), A, 300)
    slope = (X / np.maximum(found @ A, 1e-12)) @ A.T - A.sum(axis=1)
    assert found[2, 1] == 0.0
    inside = found > 0.1
    assert inside.sum() >= 12
    np.testing.assert_allclose(slope[inside], 0.0, atol=5e-3)
    once = counts.improve_codes(X, Z.copy(), A, 1)
    assert not np.allclose(once, found, rtol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_inverses_of_the_lower_half_of_a_matrix(n, rng):
    G = rng.standard_normal((n, n + 2))
    G = G @ G.T
    found = np.full((n + 1, n + 1), np.nan)
    found[:n, :n] = np.tril(G)
    counts._invert(found, n)
    np.testing.assert_allclose(found[:n, :n], np.linalg.inv(G))


def signature_rows(rng, n):
    S = rng.dirichlet(np.full(12, 0.4), 4)
    return S, rng.poisson(rng.gamma(1.0, 200.0, (n, 4)) * (rng.random((n, 4)) < 0.6) @ S).astype(float)


def half_deviance(x, S, z):
    mean = np.maximum(z @ S, 1e-12 * max(x.sum(), 1.0))
    return mean.sum() + np.sum(np.where(x > 0, x * (np.log(np.where(x > 0, x, 1.0) / mean) - 1), 0.0))


@pytest.mark.parametrize("fixed", [-1, 1])
def test_poisson_fits_of_rows_meet_their_conditions(fixed, rng):
    S, X = signature_rows(rng, 8)
    X[3] = 0.0
    for x in X:
        z = np.full(4, 20.0)
        loss = poisson_rows.fit_row(x, S, z, fixed)
        assert loss == pytest.approx(half_deviance(x, S, z), abs=1e-9)
        assert fixed < 0 or z[fixed] == 20.0
        slope = (x / np.maximum(z @ S, 1e-300)) @ S.T - 1.0
        free = np.arange(4) != fixed
        on = free & (z > 1e-3 * x.sum())
        np.testing.assert_allclose(slope[on], 0.0, atol=1e-3)
        assert (slope[free] < 1e-2).all()


def test_codes_leave_a_row_one_after_the_other_the_least_supported_first(rng):
    S, X = signature_rows(rng, 14)
    allowed, least = np.array([True, True, False, True]), np.array([6.0, 9.0, 6.0, 30.0])
    Z = np.full((14, 4), 30.0)
    poisson_rows.fit_rows(X, S, Z, allowed, least)
    dropped = 0
    for x, z in zip(X, Z, strict=True):
        kept = [0, 1, 3]
        fit = np.full(4, 30.0)
        best = poisson_rows.fit_row(x, S[kept], part := fit[kept].copy(), -1)
        kept = [k for k, value in zip(kept, part, strict=True) if value > 0]
        while len(kept) > 1:
            losses = {}
            for k in kept:
                rest = [j for j in kept if j != k]
                losses[k] = poisson_rows.fit_row(x, S[rest], np.full(len(rest), 30.0), -1)
            go = min(kept, key=lambda k: 2 * (losses[k] - best) - least[k])
            if 2 * (losses[go] - best) >= least[go]:
                break
            best, dropped = losses[go], dropped + 1
            kept.remove(go)
        assert np.flatnonzero(z).tolist() == kept
    assert dropped >= 2


def test_ends_of_intervals_are_where_the_likelihood_has_fallen_so_far(rng):
    S, X = signature_rows(rng, 5)
    ends_at_zero = 0
    for x in X[X.sum(axis=1) > 50]:
        z, low, high = np.full(4, 30.0), np.zeros(4), np.zeros(4)
        best = poisson_rows.fit_row(x, S, z, -1)
        poisson_rows.row_intervals(x, S, z, 3.84, low, high)
        for k in range(4):
            for end in (low[k], high[k]):
                trial = z.copy()
                trial[k] = end
                fallen = 2 * (poisson_rows.fit_row(x, S, trial, k) - best)
                if end == 0.0:
                    ends_at_zero += 1
                    assert fallen <= 3.84 + 1e-3
                else:
                    assert fallen == pytest.approx(3.84, abs=0.15)
        assert (low <= z + 1e-9).all() and (z <= high).all()
    assert ends_at_zero > 0


# --- designs -------------------------------------------------------------------------------------------


def test_diffraction_is_a_fourier_transform_behind_masks(rng):
    shape = (2, 3)
    masks = rng.standard_normal((4, *shape)) + 1j * rng.standard_normal((4, *shape))
    basis = np.eye(6).reshape(6, *shape)
    dense = np.column_stack([np.fft.fftn(masks * one, axes=(1, 2)).ravel() for one in basis])
    design = Diffraction(masks.reshape(4, -1), shape)
    signals = rng.standard_normal((6, 2)) + 1j * rng.standard_normal((6, 2))
    fields = rng.standard_normal((24, 2)) + 1j * rng.standard_normal((24, 2))
    for made, other in ((design, dense), (OperatorDesign(aslinearoperator(dense)), dense)):
        np.testing.assert_allclose(made @ signals, other @ signals)
        np.testing.assert_allclose(made @ signals[:, 0], other @ signals[:, 0])
        np.testing.assert_allclose(made.adjoint(fields), other.conj().T @ fields)
        np.testing.assert_allclose(made.adjoint(fields[:, 1]), other.conj().T @ fields[:, 1])
    squares = np.abs(dense) ** 2
    for found in (design.powers(np.ones(24)), OperatorDesign(aslinearoperator(dense)).powers(np.ones(24))):
        np.testing.assert_allclose(found, (squares.sum(axis=0), (squares**2).sum(axis=0)))
    weight = rng.random(24)
    found = OperatorDesign(aslinearoperator(dense)).powers(weight)
    np.testing.assert_allclose(found, (weight @ squares, weight @ squares**2))
    measured = CodedDiffraction(masks).intensities(signals[:, 0].reshape(shape))
    np.testing.assert_allclose(measured.ravel(), np.abs(dense @ signals[:, 0]) ** 2)
    assert measured.shape == masks.shape


def test_of_many_columns_some_stand_for_all(rng):
    A = rng.standard_normal((3, 1025))
    squares, fourths = OperatorDesign(aslinearoperator(A)).powers(np.ones(3))
    some = np.unique(np.linspace(0, 1024, 64).astype(int))
    np.testing.assert_allclose(squares, np.full(1025, (A[:, some] ** 2).sum(axis=0).mean()))
    np.testing.assert_allclose(fourths, np.full(1025, (A[:, some] ** 4).sum(axis=0).mean()))


# --- peeling and correlation ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_loops_of_peeling(n, rng):
    D, weights = rng.standard_normal((5, 4)), rng.random(n) * (np.arange(n) != 1)
    atoms = np.array([rng.permutation(5)[:3] for _ in range(n)], dtype=np.intp).reshape(n, 3)
    number, codes = rng.integers(0, 4, n), rng.standard_normal((n, 3))
    dense = np.zeros((n, 5))
    for i, j in itertools.product(range(n), range(3)):
        if j < number[i]:
            dense[i, atoms[i, j]] = codes[i, j]
    X = rng.standard_normal((n, 4))
    left = X.copy()
    peel.subtract_codes(left, atoms, codes, number, D)
    np.testing.assert_allclose(left, X - dense @ D)
    G, B = np.ones((5, 5)), np.ones((5, 4))
    peel.add_moments(X, weights, atoms, codes, number, G, B)
    np.testing.assert_allclose(G, 1 + (dense * weights[:, None]).T @ dense)
    np.testing.assert_allclose(B, 1 + (dense * weights[:, None]).T @ X)
    P = rng.standard_normal((n, 3))
    products, values, hits = P.copy(), np.ones(3), np.zeros(3)
    peel.keep_hits(products, weights, 0.3, 0.6, values, hits)
    w = weights[:, None]
    np.testing.assert_allclose(products, np.where(P**2 >= 0.3, w * P, 0.0))
    np.testing.assert_allclose(values, 1 + np.sum(np.where(P**2 >= 0.6, w * P**2, 0.0), axis=0))
    np.testing.assert_array_equal(hits, np.sum(P**2 >= 0.6, axis=0))


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_scores_of_rows_stay_right_while_rows_change(n, rng):
    """300 rows are more than a tile."""
    V, w, threshold = rng.standard_normal((n, 3)), rng.random(n), 0.4

    def expected(V):
        unit = V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300)
        squares = (unit @ V.T) ** 2
        return np.sum(np.where(squares >= tie(threshold, V.dtype), squares * w, 0.0), axis=1)

    found = RowScores(V, w, threshold)
    np.testing.assert_allclose(found.scores(), expected(V))
    rows = np.unique(rng.integers(0, n, 3))
    changed = V.copy()
    changed[rows] = rng.standard_normal((len(rows), 3))
    changed[rows[0]] = 0.0
    found.change(rows, changed[rows])
    np.testing.assert_allclose(found.scores(), expected(changed), atol=1e-12)
    units = rng.standard_normal((4, 3))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    limits = rng.random(n)
    scores, number = score_candidates(units, V, w, limits)
    squares = (units @ V.T) ** 2
    np.testing.assert_allclose(scores, np.sum(np.where(squares >= limits, w * squares, 0.0), axis=1))
    np.testing.assert_array_equal(number, np.sum(squares >= limits, axis=1))


# --- pictures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("centred", [False, True])
def test_patches_are_cut_out_and_put_back(channels, centred, rng):
    image, tops, lefts = rng.random((6, 7, channels)), np.array([0, 3, 1]), np.array([4, 0, 2])
    out, means = np.empty((3, 2 * 3 * channels)), np.full((3, channels), 9.0)
    patches.gather(image.reshape(6, -1), tops, lefts, 3, centred, out, means)
    parts = np.array([image[t : t + 2, x : x + 3] for t, x in zip(tops, lefts, strict=True)])
    middle = parts.mean(axis=(1, 2)) if centred else np.zeros((3, channels))
    np.testing.assert_allclose(means, middle)
    np.testing.assert_allclose(out.reshape(parts.shape), parts - middle[:, None, None])
    canvas, total = np.zeros((6, 7 * channels)), np.zeros((6, 7))
    weights = np.array([1.0, 2.0, 0.5])
    patches.scatter_add(out, means, weights, tops, lefts, 3, canvas, total)
    expected, mass = np.zeros(image.shape), np.zeros((6, 7))
    for part, w, t, x in zip(parts, weights, tops, lefts, strict=True):
        expected[t : t + 2, x : x + 3] += w * part
        mass[t : t + 2, x : x + 3] += w
    np.testing.assert_allclose(canvas.reshape(image.shape), expected)
    np.testing.assert_allclose(total, mass)


def haar_matrix(n):
    H = np.eye(1)
    while len(H) < n:
        H = np.vstack([np.kron(H, [1, 1]), np.kron(np.eye(len(H)), [1, -1])]) / np.sqrt(2)
    return H


@pytest.mark.parametrize("n", [1, 2, 8])
def test_groups_of_patches_are_thresholded_together(n, rng):
    image, window = rng.standard_normal((5, 6)), rng.random((2, 2)) + 0.5
    places = np.array([rng.permutation([0, 1, 2, 6, 7, 8, 12, 13])[:n] for _ in range(3)])
    atoms = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    G = rng.standard_normal((n, 3))
    turned = G.copy()
    groups.haar(turned, np.empty_like(G), False)
    np.testing.assert_allclose(turned, haar_matrix(n) @ G)
    part, mass = np.zeros((5, 6)), np.zeros((5, 6))
    groups.threshold_groups(image, places, atoms, 0.9, window, 0, part, mass)
    expected, weight = np.zeros((5, 6)), np.zeros((5, 6))
    for row in places:
        X = np.array([image[p // 6 : p // 6 + 2, p % 6 : p % 6 + 2].ravel() for p in row])
        Z = haar_matrix(n) @ X @ atoms.T
        Z = np.where(np.abs(Z) >= 0.9, Z, 0.0)
        share = 1 / (1 + np.count_nonzero(Z))
        for patch, p in zip(haar_matrix(n).T @ Z @ atoms, row, strict=True):
            here = slice(p // 6, p // 6 + 2), slice(p % 6, p % 6 + 2)
            expected[here] += share * window * patch.reshape(2, 2)
            weight[here] += share * window
    np.testing.assert_allclose(part, expected)
    np.testing.assert_allclose(mass, weight)


# --- curves and moves ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_the_closest_curve_with_one_peak(n, rng):
    for _ in range(5):
        y = rng.standard_normal(n)
        t = np.arange(n)
        best = min(
            np.sum((np.concatenate([up, down]) - y) ** 2)
            for i in range(n)
            for up in [IsotonicRegression().fit_transform(t[: i + 1], y[: i + 1])]
            for down in [
                IsotonicRegression(increasing=False).fit_transform(t[i + 1 :], y[i + 1 :])
                if i < n - 1
                else np.zeros(0)
            ]
        )
        found = one_peak(y)
        rises = np.sign(np.diff(found))
        assert np.sum((found - y) ** 2) == pytest.approx(best)
        assert (np.diff(rises[rises != 0]) <= 0).all()


def kept(c, slack, absent, unimodal, runs):
    """All that is asked of a contribution."""
    good = (c >= -slack - 1e-9).all() and (c[absent] <= slack + 1e-9).all()
    for begin, end in itertools.pairwise(runs) if unimodal else ():
        part = c[begin:end]
        rises = np.diff(part)
        peaks = [k for k in range(len(part)) if (rises[:k] >= -1.5 * slack - 1e-9).all()]
        good &= any((rises[k:] <= 1.5 * slack + 1e-9).all() for k in peaks)
    return bool(good)


@pytest.mark.parametrize("unimodal", [False, True])
@pytest.mark.parametrize("some_absent", [False, True])
def test_steps_of_a_contribution_end_where_something_asked_is_broken(unimodal, some_absent, rng):
    runs = np.array([0, 6, 12])
    for _ in range(20):
        c = np.concatenate([[0.2, 1.0, 2.0, 1.5, 0.7, 0.0], [0.0, 0.5, 0.9, 1.4, 0.8, 0.3]])
        e, absent = rng.standard_normal(12), np.zeros(12, bool)
        if some_absent:
            absent[[0, 5, 6]], c[0] = True, 0.0
        ends = np.array([-5.0, 5.0])
        feasible.profile_room(c, e, 0.05, absent, unimodal, runs, ends)
        assert ends[0] <= 0.0 <= ends[1]
        for end in ends:
            assert kept(c + 0.999 * end * e, 0.05, absent, unimodal, runs)
        if not unimodal:  # with a peak that stays where it is, the interval is a part of what is feasible
            for end in ends[np.abs(ends) < 5.0]:
                assert not kept(c + 1.01 * end * e, 0.05, absent, False, runs)


@pytest.mark.parametrize("goal", [(0, 1, 1), (0, 1, -1), (1, 1, 1), (1, 1, -1)])
def test_moves_leave_the_product_and_reach_for_their_goal(goal, rng):
    C0, S0 = rng.random((10, 2)) + 0.2, rng.random((2, 8)) + 0.2
    S0 /= S0.sum(axis=1, keepdims=True)
    C, S, T = C0.copy(), S0.copy(), np.eye(2)
    noise = (1e-3, 3.0, float(np.linalg.norm(C @ S)))
    asked = (np.zeros((10, 2), bool), np.zeros(2, bool), np.array([0, 10]), np.zeros(2, bool))
    bounds = (C.copy(), C.copy(), S.copy(), S.copy(), np.array([[np.inf] * 2, [0.0] * 2]))
    chances, directions = rng.random((60, 5)), rng.standard_normal((60, 2))
    feasible.wander(C, S, T, noise, np.full((4, 2), 1e-3), asked, goal, chances, directions, bounds)
    np.testing.assert_allclose(C @ S, C0 @ S0, atol=1e-10)
    np.testing.assert_allclose(T @ S0, S, atol=1e-10)
    np.testing.assert_allclose(S.sum(axis=1), 1.0)
    assert min(C.min(), S.min()) >= -1.1e-3
    assert (bounds[0] <= C0).all() and (bounds[1] >= C0).all() and (bounds[2] <= S).all()
    assert (bounds[3] >= S).all() and (bounds[1] >= C).all()
    k, other, sign = goal
    sizes = [np.linalg.norm(C[:, k]) * np.linalg.norm(S[k]), np.linalg.norm(C0[:, k]) * np.linalg.norm(S0[k])]
    gained = sign * (T[k, other] - (k == other)) if k != other else sign * (sizes[0] - sizes[1])
    assert gained > 0.05
    if k == other:
        assert bounds[4][0, k] <= sizes[0] <= bounds[4][1, k]


# --- sparse machines -----------------------------------------------------------------------------------


def test_values_of_a_sparse_machine_and_their_updates(rng):
    d, k, b = 7, 2, 0.3
    X = sp.csr_array(rng.standard_normal((6, d)) * (rng.random((6, d)) < 0.6))
    scale, m, S = rng.random(d) + 0.5, rng.standard_normal((d, 1 + k)), rng.random((d, 1 + k))
    rows = X.indptr, X.indices, X.data, scale

    def predicted(m, S):
        f, variance = np.empty(6), np.empty(6)
        sparse_machine.predict_rows(*rows, m, S, b, f, variance)
        return f, variance

    Y = X.toarray() * scale
    pairs = sum(((Y @ m[:, 1 + j]) ** 2 - Y**2 @ m[:, 1 + j] ** 2) / 2 for j in range(k))
    f, variance = predicted(m, S)
    np.testing.assert_allclose(f, b + Y @ m[:, 0] + pairs)
    draws = np.random.default_rng(1).standard_normal((20_000, d, 1 + k)) * np.sqrt(S) + m
    along = np.einsum("nd,rdj->rnj", Y, draws[:, :, 1:])
    own = np.einsum("nd,rdj->rnj", Y**2, draws[:, :, 1:] ** 2)
    values = b + draws[:, :, 0] @ Y.T + np.sum(along**2 - own, axis=2) / 2
    np.testing.assert_allclose(values.var(axis=0), variance, rtol=0.05)
    sums = np.zeros((6, 3 * k + 2))
    none = np.zeros((d, 1 + k))
    sparse_machine.move_rows(*rows, 0, d, none, none, m, S, b, sums, f, variance)
    np.testing.assert_allclose((f, variance), predicted(m, S))
    new_m, new_S = m.copy(), S.copy()
    new_m[2:5], new_S[2:5] = rng.standard_normal((3, 1 + k)), rng.random((3, 1 + k))
    sparse_machine.move_rows(*rows, 2, 5, m[2:5], S[2:5], new_m[2:5], new_S[2:5], b, sums, f, variance)
    np.testing.assert_allclose((f, variance), predicted(new_m, new_S))


@pytest.mark.parametrize(("share", "fits"), [(1.01, True), (1.03, False)])
def test_no_component_is_larger_than_the_data(share, fits, rng):
    C, S = rng.random((6, 2)) * [1.0, 0.1], rng.random((2, 4))
    size = np.linalg.norm(C[:, 0]) * np.linalg.norm(S[0])
    assert feasible._fits(C, S, size / np.sqrt(share)) == fits
    assert feasible._fits(C[:, ::-1].copy(), S[::-1].copy(), size / np.sqrt(share)) == fits


@pytest.mark.parametrize("nonnegative", [False, True])
def test_units_of_components_change_nothing_but_those_of_codes(nonnegative, rng):
    A, units = rng.random((4, 9)), np.array([1e-7, 1.0, 1e6, 30.0])
    X = (rng.random((12, 4)) * (rng.random((12, 4)) < 0.5)) @ A + 0.1 * rng.standard_normal((12, 9))
    X[rng.random(X.shape) < 0.2] = np.nan
    codes = masked.masked_codes(X, A, nonnegative=nonnegative)
    other = masked.masked_codes(X, A * units[:, None], nonnegative=nonnegative) * units
    np.testing.assert_allclose(other, codes, rtol=1e-6, atol=1e-9)
    assert (codes == 0).any() == nonnegative
