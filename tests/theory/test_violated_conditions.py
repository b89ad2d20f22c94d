"""Each condition of the theorems, broken on purpose, turns its row red; where it holds, it isn't red."""

from dataclasses import replace

import numpy as np
import pytest

from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    RankOneSensing,
)
from altmin.datasets import make_planted_sparse, make_quadratic, make_sparse_dictionary
from altmin.guarantees.cone_rest import start_quality
from altmin.guarantees.cone_shape import shape
from altmin.guarantees.contract import judge
from altmin.guarantees.dictionary import DICTIONARY, AtomsEvidence
from altmin.guarantees.dictionary_theory import DictionaryEvidence
from altmin.guarantees.nonnegative import NONNEGATIVE, ConeEvidence
from altmin.guarantees.overcomplete import OVERCOMPLETE, AtomEvidence


def status(report, symbol):
    return report[symbol].status


# --- Li & Liang 2017 --------------------------------------------------------------------------------

A = np.abs(np.random.default_rng(1).standard_normal((6, 30)))


def binary(n=600, D=6, active=1):
    on = np.argsort(np.random.default_rng(2).random((n, D)), axis=1) < active
    return on.astype(float)


def and_of(codes, components=A, **facts):
    return judge(NONNEGATIVE, ConeEvidence(shape(codes, components), 0.0, **facts))


GOOD = binary()
GOOD[:, 0] *= np.random.default_rng(3).choice([0.97, 1.0], len(GOOD))


@pytest.mark.parametrize("symbol", ["x >= 0", "r", "k", "m", "m_q", "lambda", "x in {0,1}", "q"])
def test_and_good_weights_violate_nothing(symbol):
    assert status(and_of(GOOD), symbol) != "violated"


def test_and_negative_weights():
    assert status(and_of(np.random.default_rng(0).standard_normal((500, 6))), "x >= 0") == "violated"


def test_and_samples_that_mix_all_components():
    dense = np.random.default_rng(0).random((500, 6))
    for symbol in ("r", "k", "m", "m_q"):
        assert status(and_of(dense), symbol) == "violated"


def test_and_components_that_come_together():
    codes = binary()
    codes[:, 1] = np.where(np.random.default_rng(0).random(len(codes)) < 0.95, codes[:, 0], codes[:, 1])
    assert status(and_of(codes), "m") == status(and_of(codes), "m_q") == "violated"


def test_and_weights_always_in_proportion():
    codes = binary()
    codes[:, 1] = codes[:, 0]
    assert status(and_of(codes), "lambda") == "violated"


def test_and_weights_that_are_not_binary():
    weights = np.random.default_rng(0).dirichlet(np.full(6, 0.3), 600)
    assert status(and_of(weights), "x in {0,1}") == "violated"


def test_and_weights_that_are_often_small():
    codes = np.maximum(binary(), 0.01 * np.random.default_rng(0).random((600, 6)))
    assert status(and_of(codes), "q") == "violated"


@pytest.mark.parametrize(("mixing", "expected"), [(0.05, "holds"), (3.0, "violated")])
def test_and_starts_far_from_the_truth(mixing, expected):
    start = A + mixing * np.random.default_rng(0).random((6, 6)) @ A
    mixed, outside = start_quality(start, A)
    assert status(and_of(GOOD, start=mixed, outside=outside), "l") == expected
    model = AND(6, init=start, max_iter=3).fit(binary(active=2) @ A)
    assert model.guarantee_["l"].measured is not None


def test_and_starts_outside_the_span():
    for size, expected in ((0.0, "holds"), (5.0, "violated")):
        start = A + size * np.random.default_rng(4).standard_normal(A.shape)
        mixed, outside = start_quality(start, A)
        assert status(and_of(GOOD, start=mixed, outside=outside), "rho") == expected


def test_and_noise_above_the_smallest_direction():
    for noise, expected in ((1e-4, "holds"), (10.0, "violated")):
        report = and_of(GOOD, noise=noise)
        assert status(report, "gamma_2") == status(report, "gamma") == expected


@pytest.mark.parametrize("symbol", ["min x", "Sigma", "zeta", "i.i.d.", "T, eta"])
def test_and_what_cannot_be_checked_says_why(symbol):
    row = and_of(GOOD)[symbol]
    assert row.status == "cannot be checked"
    assert len(row.meaning) > 20


# --- Liang et al. 2022 ------------------------------------------------------------------------------


def evidence(theorem=2, k=6, p=200_000, density=1e-4, n=400, **changes):
    """Codes as Assumption 1 wants them, of which n rows are looked at."""
    rng = np.random.default_rng(5)
    codes = np.zeros((n, k))
    for atom in range(k):
        rows = rng.permutation(n)[:40]
        codes[rows, atom] = rng.choice([-1, 1], 40) * (0.8 + 0.4 * rng.random(40))
    facts = {
        "codes": codes,
        "thresholds": np.full(k, 0.01),
        "size": np.ones(k),
        "density": np.full(k, density),
        "components": np.eye(k),
        "n_samples": p,
        "residual": 0.0,
        "changes": (0.1, 0.03, 0.009, 0.0027),
        "agreeing": 2,
        "theorem": theorem,
        "start": 0.01,
    }
    return DictionaryEvidence(**{**facts, **changes})


def theory(found):
    return judge(DICTIONARY, AtomsEvidence(found, None))


BIG = {"p": 10**15}
CODES = evidence().codes
NEEDED = "p / (n^2 log n kappa^12 / theta^2 Gamma)"


@pytest.mark.parametrize("theorem", [1, 2, 3])
def test_dictionaries_of_assumption_1_violate_nothing(theorem):
    report = theory(evidence(theorem, **BIG))
    paper = [row for row in report if "Liang" in row.reference]
    assert len(paper) >= 10
    assert [row.symbol for row in paper if row.status == "violated"] == []


@pytest.mark.parametrize("theorem", [1, 2, 3])
@pytest.mark.parametrize(
    ("symbol", "changes"),
    [
        ("max theta / min theta", {"density": np.array([1e-4] * 5 + [1e-3])}),
        ("|t| of E z", {"codes": np.abs(CODES)}),
        ("kurtosis", {"codes": CODES * np.where(np.arange(len(CODES)) % 100 == 0, 50.0, 1.0)[:, None]}),
        ("gap", {"codes": np.where(CODES == 0, 0.009, 0.0125 * np.sign(CODES))}),
        ("theta", {"density": np.full(6, 0.2)}),
        ("p theta^2 / n", {"batch": 50}),
        ("start", {"start": 3.0}),
        ("zeta / Gamma", {"thresholds": np.full(6, 0.8)}),
        ("noise", {"residual": 0.1}),
        ("rate", {"changes": (0.1, 0.099, 0.098, 0.097)}),
    ],
)
def test_dictionaries_each_condition_broken(theorem, symbol, changes):
    assert status(theory(evidence(theorem, **BIG, **changes)), symbol) == "violated"


@pytest.mark.parametrize("theorem", [2, 3])
def test_dictionaries_ill_conditioned_or_too_few_samples(theorem):
    atoms = np.eye(6)
    atoms[0] = atoms[1] + 1e-4 * atoms[0]
    assert status(theory(evidence(theorem, components=atoms, **BIG)), "kappa(A)") == "violated"
    assert status(theory(evidence(theorem, p=1000)), NEEDED) == "violated"


def test_dictionaries_that_share_supports():
    problem = make_sparse_dictionary(1500, 6, density=0.15, random_state=0)
    codes = problem.codes.copy()
    codes[:, 1] = np.where(codes[:, 0] != 0, np.random.default_rng(0).standard_normal(len(codes)), 0.0)
    for used, expected in ((problem.codes, "holds"), (codes, "violated")):
        model = CompleteDictionaryLearning(init=problem.components, random_state=0).fit(
            used @ problem.components
        )
        assert status(model.guarantee_, "phi") == expected


def test_dictionaries_that_are_not_orthogonal():
    problem = make_sparse_dictionary(1500, 6, density=0.15, condition=6, random_state=0)
    good = make_sparse_dictionary(1500, 6, density=0.15, orthogonal=True, random_state=0)
    wrong, right = (OrthogonalDictionaryLearning().fit(data.X).guarantee_ for data in (problem, good))
    assert wrong["accurate"].status == "violated" and wrong.verdict == "unknown"
    assert right["accurate"].status == "holds" and right.verdict == "recovered"


def test_dictionaries_fits_bring_all_rows():
    problem = make_sparse_dictionary(900, 5, density=0.2, orthogonal=True, random_state=0)
    for model in (
        OrthogonalDictionaryLearning(init=problem.components),
        CompleteDictionaryLearning(init=problem.components, batch_size=300, random_state=0),
        OnlineDictionaryLearning(batch_size=300, random_state=0),
    ):
        report = model.fit(problem.X).guarantee_
        assert report["theta"].status == "violated"
        assert report["p theta^2 / n"].measured > 0
        assert (report["start"].measured is None) == isinstance(model, OnlineDictionaryLearning)
        assert report["i.i.d."].status == "cannot be checked"


# --- Bhaskara & Tai 2019 ----------------------------------------------------------------------------

SPARSE = make_planted_sparse(300, 12, 10, 2, 0.02, random_state=0).X


def approximate(X=SPARSE, **options):
    given = {"n_components": 10, "n_nonzero_coefs": 2, "random_state": 0, "max_iter": 5, **options}
    return ApproximateDictionaryLearning(**given).fit(X).guarantee_


def test_approximate_error_above_the_target():
    assert status(approximate(n_components=3, target_error=0.01), "psi") == "violated"


def test_approximate_codes_above_their_bound():
    assert status(approximate(coefficient_bound=0.01), "Lambda-hat") == "violated"
    assert status(approximate(coefficient_bound=100.0), "Lambda-hat") == "holds"


def test_approximate_more_nonzeros_than_asked_for():
    fit = AtomEvidence(0.1, 5, 12, 300, 900, 3, 1.0, None, None, 2, 1.0, None, 0.0, False, 5)
    assert status(judge(OVERCOMPLETE, fit), "k'") == "violated"
    assert status(judge(OVERCOMPLETE, replace(fit, most_nonzeros=2)), "k'") == "holds"


def test_approximate_threshold_above_one():
    assert status(approximate(coefficient_bound=1e-4, target_error=0.9), "tau") == "violated"
    assert status(approximate(), "tau") == "holds"


def test_approximate_promise_that_says_nothing():
    assert status(approximate(), "gamma* + max(eps, 16 m Lambda / (beta t))") == "violated"


def test_approximate_more_outliers_than_allowed_for():
    X = SPARSE.copy()
    X[:60] = np.random.default_rng(0).standard_normal((60, 12))
    report = approximate(X, contamination=0.05)
    assert status(report, "smallest outlier score / largest other") == "violated"


@pytest.mark.parametrize("symbol", ["gamma*", "||a*||", "alpha, beta"])
def test_approximate_what_cannot_be_checked_says_why(symbol):
    row = approximate()[symbol]
    assert row.status == "cannot be checked"
    assert len(row.meaning) > 20


# --- Lin & Ye 2016 ----------------------------------------------------------------------------------

PRINTED = {"step": 1.0, "fit_intercept": False, "moments": "gaussian", "whiten": False}


def machine(n=4000, d=6, rank=1, asked=None, target=None, options=None, **kind):
    problem = make_quadratic(n, d, rank, random_state=0, **kind)
    y = problem.y if target is None else target(problem)
    model = FactorizationMachineRegressor(asked or rank, random_state=0, **(options or {}))
    return model.fit(problem.X, y).guarantee_


def test_machine_of_the_theorem_violates_nothing_but_constants():
    report = machine(options={"batch_size": 400, "max_iter": 10})
    red = {row.symbol for row in report.violated}
    assert red <= {"n / (c^2 k^3 d)", "delta allowed", "xi", "kurtosis of r"}, red


@pytest.mark.parametrize(
    ("symbol", "kind"),
    [
        ("max |kappa|", {"features": "exponential"}),
        ("max |phi - 3|", {"features": "exponential"}),
        ("||S - I||_2", {"correlation": 0.7}),
    ],
)
def test_machine_features_that_are_not_standard_gaussian(symbol, kind):
    report = machine(options={**PRINTED, "batch_size": 800, "max_iter": 5}, **kind)
    assert status(report, symbol) == "violated"


def test_machine_binary_features():
    assert status(machine(features="binary"), "phi - 1 - kappa^2") == "violated"


def test_machine_batches_that_are_too_small():
    report = machine(d=12, options={"batch_size": 12, "max_iter": 20})
    assert status(report, "n / (k d)") == status(report, "n / (c^2 k^3 d)") == "violated"


def test_machine_a_linear_part_too_large_for_the_rate():
    assert status(machine(n=300, coef_norm=100.0), "delta allowed") == "violated"


def test_machine_reused_rows():
    assert status(machine(n=300), "fresh") == "violated"


def test_machine_fresh_batches_that_bring_nothing():
    options = {"batch_size": 200, "max_iter": 20}
    assert status(machine(noise=5.0, options=options), "sqrt(rho_t+1 / rho_t)") == "violated"
    assert status(machine(options=options), "sqrt(rho_t+1 / rho_t)") == "holds"


def test_machine_a_loss_above_that_of_nothing():
    report = machine(options={**PRINTED, "batch_size": 40, "max_iter": 3}, d=15, rank=3)
    assert status(report, "rho") == "violated"


def test_machine_too_few_rows_for_the_isometry():
    assert status(machine(n=40, d=25, rank=2), "delta") == "violated"


def test_machine_noise_in_the_target():
    assert status(machine(noise=0.3), "xi") == "violated"
    assert status(machine(n=200, d=12, rank=2, noise=5.0), "1.7 xi sqrt(d/N)") == "violated"


def test_machine_a_matrix_that_is_not_of_low_rank():
    report = machine(d=12, rank=4, asked=1, mixed_signs=True)
    assert status(report, "sigma_k+1 / sigma_k") == "violated"
    assert status(report, "r / (sigma_k - sigma_k+1)") == "violated"


def test_machine_heavy_tailed_noise():
    tails = np.random.default_rng(0).standard_t(1.5, 4000)
    assert status(machine(target=lambda problem: problem.y + 0.1 * tails), "kurtosis of r") == "violated"


@pytest.mark.parametrize("symbol", ["i.i.d.", "E[xi x] = 0"])
def test_machine_what_cannot_be_checked_says_why(symbol):
    row = machine(n=300)[symbol]
    assert row.status == "cannot be checked"
    assert len(row.meaning) > 20


def test_sensing_designs_that_depend_on_each_other():
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((400, 5)), rng.standard_normal((400, 5))
    for second, expected in ((V, "holds"), (U + 0.1 * V, "violated")):
        report = RankOneSensing(1, random_state=0).fit((U, second), U[:, 0] * second[:, 1]).guarantee_
        assert status(report, "|t| of u v") == expected


def test_sensing_correlated_designs_without_whitening():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5)) + 2 * rng.standard_normal((400, 1))
    report = RankOneSensing(1, whiten=False, random_state=0).fit(X, X[:, 0] ** 2).guarantee_
    assert status(report, "||S - I||_2") == "violated"
