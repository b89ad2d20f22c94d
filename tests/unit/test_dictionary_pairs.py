"""Mixtures of atoms that explain the samples as well are seen: by samples, by sizes, by signs, by values."""

from dataclasses import replace

import numpy as np
import pytest

from altmin import AND
from altmin.guarantees.contract import judge
from altmin.guarantees.curvature import cut_off, grid_step
from altmin.guarantees.dictionary import DICTIONARY, AtomsEvidence, estimated
from altmin.guarantees.dictionary_atoms import atom_facts
from altmin.guarantees.dictionary_pairs import denser_together, levels, multiply, related, spans
from altmin.guarantees.dictionary_theory import DictionaryEvidence
from altmin.kernels.lines import crowded_lines

K, N = 6, 1500


def codes(seed=0, signs=False, density=0.2):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N, K))
    return (np.sign(x) if signs else np.sign(x) * (0.5 + np.abs(x))) * (rng.random((N, K)) < density)


def atoms(seed=0):
    A = np.linalg.svd(np.random.default_rng(seed).standard_normal((K, K)))[0]
    return A + 0.1 * np.roll(A, 1, axis=0)


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def mixed(A, child=1, parent=0, share=0.5):
    """A dictionary in which one atom is replaced by its mixture with another."""
    B = A.copy()
    B[child] = A[child] + share * A[parent]
    return unit(B)


def noisy(X, level, seed=9):
    return X + level * np.sqrt(np.mean(X**2)) * np.random.default_rng(seed).standard_normal(X.shape)


def report(X, components, theorem=2):
    facts = atom_facts(X, components)
    fit = DictionaryEvidence(
        codes=(X @ np.linalg.pinv(components))[:200], thresholds=np.full(K, 1e-3), size=np.ones(K),
        density=np.full(K, 0.2), components=components, n_samples=N, residual=0.0, changes=(), agreeing=2,
        theorem=theorem,
    )  # fmt: skip
    return judge(DICTIONARY, AtomsEvidence(fit, facts))


@pytest.mark.parametrize("level", [0.0, 0.03])
def test_atoms_that_occur_apart_are_recovered(level):
    A = unit(atoms())
    found = report(noisy(codes() @ A, level), A)
    assert found.verdict == "recovered", found.advice


@pytest.mark.parametrize("level", [0.0, 0.03])
@pytest.mark.parametrize("share", [0.1, 0.5, -1.0])
def test_an_atom_that_occurs_only_with_another_may_be_any_mixture(level, share):
    A, Z = unit(atoms()), codes(density=0.3)
    Z[:, 1] *= Z[:, 0] != 0
    found = report(noisy(Z @ A, level), mixed(A, share=share))
    assert found.factors[1].verdict != "recovered"
    assert found.verdict != "recovered"


def test_samples_without_a_parent_say_how_well_a_child_is_known():
    Z = codes(density=0.3)
    even = spans(Z)[1]
    Z[:, 1] *= Z[:, 0] != 0
    span, alone = spans(Z)
    assert even.min() > 0.8
    assert alone[1] == span[0] == 0.0 and alone[2:].min() > 0.6
    rows = np.flatnonzero(Z[:, 0] == 0)[:10]
    Z[rows, 1] = 1.0  # ten samples with the child alone
    assert 0.0 < spans(Z)[1][1] < 0.65


def test_sizes_of_mixed_sign_codes_follow_the_other_atom():
    Z = codes(signs=True)
    Z[:, 1] *= Z[:, 0] != 0
    mixture = Z.copy()
    mixture[:, 0] = Z[:, 0] - Z[:, 1]  # codes of the basis (a0, a0 + a1)
    assert related(codes(signs=True))[0].max() < 4
    assert related(mixture)[0][:2].min() > 20


def test_signs_of_an_atom_that_leans_towards_another_follow_it():
    Z = codes(density=0.4)
    leaning = Z.copy()
    leaning[:, 0] += 0.8 * Z[:, 1]
    assert related(Z)[1].max() < 4
    assert related(leaning)[1][:2].min() > 6
    assert related(np.abs(Z))[1].max() == 0.0  # codes of one sign have no relation of signs


def test_a_few_samples_copied_with_noise_are_few():
    A, rng = unit(atoms()), np.random.default_rng(3)
    Z = codes()
    few = Z[rng.integers(20, size=N)]
    for rows, least, most in ((few, 1, 25), (Z, 200, N)):
        facts = atom_facts(noisy(rows @ A, 0.05), A)
        assert least <= facts.n_distinct <= most


@pytest.mark.parametrize("side", [1, -1])
def test_values_piled_up_at_either_end_were_cut(side):
    X = np.random.default_rng(0).standard_normal((1000, 4))
    assert cut_off(X) == 0.0
    cut = side * np.minimum(X, 1.5)
    assert cut_off(cut) > 0.03
    one = X.copy()
    one[:, 2] = np.minimum(one[:, 2], 1.0)
    assert cut_off(one) > 0.02  # of a single feature
    assert cut_off(np.round(X, 1), grid_step(np.round(X, 1))) == 0.0


@pytest.mark.parametrize(("change", "row"), [(lambda X: np.clip(X, -1.2, 1.2), "uncut"),
                                             (lambda X: np.round(X / 0.6) * 0.6, "fine")])  # fmt: skip
def test_cut_and_coarse_values_are_named(change, row):
    A = unit(atoms())
    X = noisy(codes() @ A, 0.02)
    found = report(change(X / X.std()), A)
    assert {one.id: one.status for one in found.conditions}[row] == "violated"
    assert found.verdict != "recovered"


def test_a_step_of_least_squares_is_half_of_the_way():
    A = unit(atoms())
    facts = replace(
        atom_facts(noisy(codes() @ A, 0.03), A), step=np.full(K, 0.02), se=np.full(K, 0.002), noise=0.03
    )
    fit = DictionaryEvidence(
        codes=np.ones((2, K)), thresholds=np.ones(K), size=np.ones(K), density=np.ones(K), components=A,
        n_samples=N, residual=0.0, changes=(), agreeing=2, theorem=2,
    )  # fmt: skip
    error, bound = estimated(AtomsEvidence(fit, facts))
    assert np.all(error >= 0.037) and np.all(bound >= error)
    calm = estimated(AtomsEvidence(fit, replace(facts, step=np.full(K, 0.0005))))[0]
    assert np.all(calm == pytest.approx(0.00206))  # a little more: codes have errors, too


@pytest.mark.parametrize(("change", "status"), [(lambda X: np.maximum(X - 0.5, 0.0), "violated"),
                                                (lambda X: X * (np.abs(X) > 1.2), "holds")])  # fmt: skip
def test_features_of_which_one_side_was_lost_are_no_atoms(change, status):
    X = np.random.default_rng(8).standard_normal((N, K))
    found = report(change(X), np.eye(K))
    assert {row.id: row.status for row in found.conditions}["mixed"] == status
    assert (found.verdict == "recovered") == (status == "holds"), found.advice


def test_noise_along_one_direction_makes_errors_larger():
    A, rng = unit(atoms()), np.random.default_rng(5)
    X = noisy(codes() @ A, 0.03)
    along = X + 0.2 * rng.standard_normal((N, 1)) * A[2]
    even, leaning = (atom_facts(data, A).se for data in (X, along))
    assert np.all(leaning > 2 * even)


def test_samples_that_the_fit_scaled_to_one_size_are_compared_at_their_own():
    A = unit(atoms())
    X = codes() @ A
    X = X[np.any(X != 0, axis=1)]
    X = X * np.exp(np.random.default_rng(2).standard_normal((len(X), 1)))
    sizes = np.linalg.norm(X, axis=1)
    scaled = X / sizes[:, None]
    Z = scaled @ np.linalg.pinv(A)
    assert related(np.where(np.abs(Z) > 1e-9, Z, 0.0))[0].max() > 6
    assert atom_facts(scaled, A, sizes=sizes).size_related.max() < 5


def test_no_orthogonal_atom_is_much_better_than_the_worst():
    A = np.linalg.svd(atoms())[0]
    facts = replace(atom_facts(noisy(codes() @ A, 0.03), A), se=np.full(K, 0.002))
    facts = replace(facts, step=np.r_[0.02, np.full(K - 1, 0.001)])
    fit = DictionaryEvidence(
        codes=np.ones((2, K)), thresholds=np.ones(K), size=np.ones(K), density=np.ones(K), components=A,
        n_samples=N, residual=0.0, changes=(), agreeing=2, theorem=1,
    )  # fmt: skip
    turned, free = (estimated(AtomsEvidence(replace(fit, theorem=t), facts))[0] for t in (1, 2))
    assert turned[1:].min() > 0.015 and free[1:].max() < 0.003


def test_half_of_the_rows_from_another_mixture_contradict_without_refits():
    rng = np.random.default_rng(0)
    A, B, Z = rng.gamma(0.3, size=(4, 40)), rng.gamma(0.3, size=(4, 40)), rng.dirichlet(np.full(4, 0.4), 800)
    X = np.where(np.arange(800)[:, None] % 2 == 0, Z @ A, Z @ B)
    model = AND(4).fit(X)
    for found in (model.guarantee_, model.guarantee(X, effort="cheap")):
        rows = {row.id: row for row in found.conditions}
        assert found.verdict == "contradicted"
        assert rows["noise_left"].status == "violated" and rows["noise_left"].decisive
        assert rows["residual"].status != "violated"  # noise may leave as much


@pytest.mark.parametrize(("size", "level"), [(0.3, 0.0), (0.3, 0.03), (1.5, 0.0), (1.5, 0.03), (1.5, 0.15)])
def test_atoms_that_leave_a_trace_together_are_seen_by_all_other_codes(size, level):
    """A small trace by signs, one that hides them by the density of samples; without noise by lost zeros."""
    S = codes(density=0.12)
    A = unit(atoms())
    trace = unit(np.random.default_rng(5).standard_normal((1, K)))
    X = noisy(S @ A + size * S[:, :1] * S[:, 1:2] * trace, level)
    found = report(X, A)
    against = {row.id for row in found.decisive if row.status != "holds"}
    assert ("none_multiply" if level else "none_dense") in against


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("size", "level"), [(0.1, 0.05), (0.2, 0.1)])
def test_traces_too_small_to_be_coded_show_in_the_signs_of_the_product(seed, size, level):
    S, A = codes(seed), unit(atoms(seed))
    trace = unit(np.random.default_rng(5).standard_normal((1, K)))
    assert atom_facts(noisy(S @ A + size * S[:, :1] * S[:, 1:2] * trace, level), A).multiplied > 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.0, 0.1])
def test_products_of_codes_that_are_sums_explain_nothing(seed, level):
    A = unit(atoms(seed))
    skewed = np.abs(codes(seed)) @ A  # atoms of one sign lean on each other, but don't multiply
    for X in (codes(seed) @ A, skewed):
        assert atom_facts(noisy(X, level), A).multiplied <= 1.0


def test_pairs_that_never_occur_together_cannot_multiply():
    S = np.diag(np.ones(K))[np.arange(N) % K] * codes(density=1.0)
    assert multiply(S, np.sign(S), noisy=True) == 0.0
    assert multiply(S[:, :2], np.sign(S[:, :2]), noisy=True) == 0.0


def test_codes_of_one_size_and_sign_have_no_product_to_follow():
    S = np.abs(codes(2, signs=True))
    assert multiply(S, S, noisy=False) == 0.0  # rounding had been held against rounding


def test_rare_signs_of_an_atom_of_one_sign_tie_nothing():
    """A pursuit makes the same few mistakes in the same samples."""
    Z = np.abs(codes(7))
    wrong = np.random.default_rng(0).random(N) < 0.04
    Z[wrong] *= -1
    assert related(Z)[2] < 3.0
    Z[np.random.default_rng(1).random(N) < 0.3] *= -1  # as many as this aren't mistakes any more
    assert related(Z)[2] > 10.0


def test_little_doubts_of_three_sorts_add_up():
    """Two atoms turned by one angle in a seventh of the samples: no test alone objects."""
    A, Z = unit(atoms(3)), codes(3, density=0.25)
    turned = np.random.default_rng(0).random(N) < 0.15
    first, second = Z[:, 0].copy(), Z[:, 1].copy()
    Z[:, 0] = np.where(turned, np.cos(0.6) * first - np.sin(0.6) * second, first)
    Z[:, 1] = np.where(turned, np.sin(0.6) * first + np.cos(0.6) * second, second)
    found = report(noisy(Z @ A, 0.12), A)
    against = [row.id for row in found.decisive if row.status != "holds"]
    assert against == ["several", "doubts"]
    assert [factor.verdict for factor in found.factors] == ["plausible"] * 2 + ["recovered"] * 4


def test_a_sample_or_two_without_a_zero_are_outliers_and_four_are_not():
    A = unit(atoms())
    S = codes(density=0.1)
    for dense, verdict in ((2, "recovered"), (4, "plausible")):
        S[:dense] = 1.0 + np.random.default_rng(1).random((dense, K))
        assert report(S @ A, A).verdict == verdict


def test_codes_of_a_size_of_their_own_beside_another_atom_are_seen():
    Z = codes(3, signs=True)
    assert levels(Z).max() == 0.0  # all of one size
    rows = np.flatnonzero(Z[:, 0])[:20]
    Z[rows, 1] += 0.97 * Z[rows, 0]  # nearly all of it is borrowed: signs and mean sizes hardly change
    found = levels(Z)
    assert found[:2].min() > 6.0
    assert found[2:].max() < 4.0


def test_sizes_that_are_drawn_for_themselves_are_no_evidence():
    rng = np.random.default_rng(0)
    Z = codes(4, signs=True) * rng.geometric(0.5, (N, K))
    assert levels(Z).max() < 4.0
    assert levels(codes(5)).max() == 0.0  # no size twice


def test_five_exact_codes_on_a_line_are_no_chance():
    Z = codes(6, density=0.05)
    windows = np.full(K, 5e-5)
    assert crowded_lines(Z, windows, 2000).max() <= 1.0
    rows = np.flatnonzero(Z[:, 0])[:5]
    Z[rows, 1] = 0.7 * Z[rows, 0]
    found = crowded_lines(Z, windows, 2000)
    assert found[:2].min() > 1.0 and found[2:].max() <= 1.0


@pytest.mark.parametrize("width", [5e-5, 0.02, 0.2])
def test_the_worst_line_of_a_column_is_that_of_its_worst_pair(width):
    """Pairs that can't be the worst for either column aren't held against all shuffles."""
    Z = codes(7, density=0.2)
    Z[np.flatnonzero(Z[:, 2])[:30], 4] = 0.7 * Z[np.flatnonzero(Z[:, 2])[:30], 2]
    windows = np.full(K, width)
    pairs = np.zeros((K, K))
    for i in range(K):
        for j in range(i):  # in this order, as the quotient of the two codes is taken
            pairs[i, j] = pairs[j, i] = crowded_lines(Z[:, [j, i]], windows[:2], 2000).max()
    np.testing.assert_array_equal(crowded_lines(Z, windows, 2000), pairs.max(axis=1))


def test_the_energy_of_others_is_compared_for_all_pairs_at_once():
    rng = np.random.default_rng(0)
    used = rng.random((900, 5)) < 0.3  # more than a block of rows
    codes = np.clip(rng.standard_normal((900, 5)) * np.sqrt(1 + 15 * used), -4, 4)
    energy, every = codes**2, np.indices((5, 5)).reshape(2, -1)
    found = denser_together(used, codes, *every).reshape(5, 5)
    for i in range(5):
        for j in range(i):
            others = energy.sum(axis=1) - energy[:, i] - energy[:, j]
            one, other = used[:, i], used[:, j]
            parts = [others[rows] for rows in (one & other, one & ~other, other & ~one, ~(one | other))]
            both, first, second, neither = map(np.mean, parts)
            variances, sizes = np.array([np.var(part) for part in parts]), np.array([len(p) for p in parts])
            error = max(variances[0], variances[1:].mean()) / sizes[0] + np.sum(variances[1:] / sizes[1:])
            t = (both - first - second + neither) / np.sqrt(error)
            assert found[i, j] == pytest.approx(t, rel=1e-3, abs=1e-3)
    assert denser_together(used[:3], codes[:3], *every).max() == 0.0  # no four samples of each sort
