"""Planted dictionaries are found, outliers are told apart, and the report never says too much."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from altmin import ApproximateDictionaryLearning
from altmin.algorithms.overcomplete.exact_peeling import peel_steps
from altmin.algorithms.overcomplete.peeling_sizes import PeelPlan
from altmin.algorithms.overcomplete.unit_rows import unit_rows
from altmin.datasets import make_planted_sparse, make_plateau
from altmin.metrics import sine_errors


@pytest.mark.seeds
@pytest.mark.parametrize("peeling", ["exact", "sampled"])
def test_an_overcomplete_planted_dictionary_is_found(peeling, seed):
    problem = make_planted_sparse(1500, 24, 36, 3, 0.02, random_state=seed)
    model = ApproximateDictionaryLearning(36, n_nonzero_coefs=3, peeling=peeling, random_state=seed)
    model.fit(problem.X)
    assert np.mean(sine_errors(model.components_, problem.components) < 0.1) >= 0.95
    assert model.relative_error_ < 0.01


@pytest.mark.parametrize(("kind", "share"), [("large", 0.2), ("dense", 0.4)])
def test_outliers_are_told_apart_and_leave_the_dictionary_alone(kind, share):
    problem = make_planted_sparse(1500, 24, 36, 3, 0.05, outliers=share, kind=kind, random_state=2)
    model = ApproximateDictionaryLearning(36, n_nonzero_coefs=3, contamination=share, random_state=2)
    model.fit(problem.X)
    assert roc_auc_score(problem.outliers, model.outlier_scores_) > 0.98
    assert model.outlier_scores_[~problem.outliers].mean() < 0.04
    assert model.outlier_mask_.sum() == int(share * 1500)
    fresh = make_planted_sparse(200, 24, 36, 3, 0.05, outliers=0.5, random_state=2)
    judged = model.predict(np.vstack([fresh.X[fresh.outliers], problem.X[~problem.outliers]]))
    assert (judged[: fresh.outliers.sum()] == -1).mean() > 0.8
    assert (judged[fresh.outliers.sum() :] == 1).mean() > 0.9


def test_lemma_11_holds_with_projection():
    problem = make_planted_sparse(200, 16, 24, 3, 0.05, random_state=3)
    U, norms = unit_rows(problem.X)
    codes = problem.codes / norms[:, None]
    gamma = np.sum((U - codes @ problem.components) ** 2, axis=1)
    bound = np.max(np.sum(codes**2, axis=1))
    plan = PeelPlan(40, 16, tau=0.3, decay=1.0, floor=0.0, strict=False, min_support=1)
    steps = 0
    for step in peel_steps(plan, U, norms**2):
        Z = step.residuals
        left = np.sum(np.where(codes != 0, Z @ problem.components.T, 0) ** 2, axis=1)
        right = np.maximum(np.sum(Z**2, axis=1) - gamma, 0) ** 2 / (4 * bound)
        assert (left >= right * (1 - 1e-9) - 1e-15).all()
        steps += 1
    assert steps > 5


def test_the_plateau_stops_by_itself_and_claims_nothing():
    problem = make_plateau(60, 0.004)
    U, norms = unit_rows(problem.X)
    plan = PeelPlan(1000, 60, tau=0.02**0.5, decay=1.0, floor=0.0, strict=False, min_support=1)
    steps = list(peel_steps(plan, U, norms**2))
    assert len(steps) <= 5
    assert 1e-3 < steps[-1].left < 0.01
    model = ApproximateDictionaryLearning(8, n_nonzero_coefs=2, random_state=0).fit(problem.X)
    assert model.guarantee_.verdict == "unknown"


def test_theory_mode_keeps_its_promises():
    problem = make_planted_sparse(300, 16, 12, 2, 0.05, random_state=4)
    model = ApproximateDictionaryLearning(12, n_nonzero_coefs=2, target_error=0.3, mode="theory")
    model.fit(problem.X)
    error = np.sum((problem.X - model.codes_ @ model.components_) ** 2) / np.sum(problem.X**2)
    assert error <= 0.3
    assert model.relative_error_ == pytest.approx(error)
    assert model.guarantee_["psi"].status == "holds"
    assert "Vacuous" in model.guarantee_["promise of the theorem"].meaning


def test_theory_mode_in_passes_agrees_with_its_goal():
    problem = make_planted_sparse(600, 12, 10, 2, 0.05, random_state=5)
    model = ApproximateDictionaryLearning(
        10, n_nonzero_coefs=2, target_error=0.3, mode="theory", peeling="sampled", random_state=0
    )
    with pytest.warns(UserWarning, match="the sampling bound asks for"):
        model.fit(problem.X)
    assert model.relative_error_ <= 0.3
    assert model.n_iter_ == len(model.history_) > 0


def test_full_report_is_plausible_for_planted_data_and_not_for_gaussian_data():
    problem = make_planted_sparse(1200, 16, 24, 2, 0.02, random_state=6)
    model = ApproximateDictionaryLearning(24, n_nonzero_coefs=2, random_state=0)
    report = model.fit(problem.X).guarantee(problem.X, effort="full")
    said = [factor.verdict for factor in report.factors]
    assert said.count("plausible") >= 0.9 * len(said)
    assert "recovered" not in said
    assert report.verdict == ("plausible" if said.count("plausible") == len(said) else "unknown")
    assert model.plausible_components(problem.X).mean() >= 0.9
    noise = np.random.default_rng(0).standard_normal((1200, 16))
    report = model.fit(noise).guarantee(noise, effort="full")
    assert report.verdict == "unknown"
    assert {factor.verdict for factor in report.factors} == {"unknown"}
