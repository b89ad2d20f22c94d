"""AND finds planted features, stops at the noise, leaves outliers out, and says where it fails."""

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import add_outliers, make_binary, make_ctm, make_dir, make_neg
from altmin.metrics import sine_errors, total_correlation_error

PROBLEMS = {
    "dir": lambda seed: make_dir(1500, 120, 15, concentration=1.5, random_state=seed),
    "ctm": lambda seed: make_ctm(1500, 120, 15, sigma=10.0, group_size=5, random_state=seed),
    "neg": lambda seed: make_neg(1500, 120, 15, weights="dir", concentration=1.5, random_state=seed),
}


def literal(X, A, start, decay, n_stages, n_steps):
    """Algorithm 1 as printed (on the whole data set, with the step 1 / lambda_max)."""
    for stage in range(n_stages):
        Z = X @ np.linalg.pinv(A)
        Z[start / decay**stage > Z] = 0.0
        step = 1.0 / np.linalg.eigvalsh(Z.T @ Z)[-1]
        for _ in range(n_steps):
            A = A + step * (Z.T @ (X - Z @ A))
    return A


@pytest.mark.parametrize("outside", [0.0, 0.1])
@pytest.mark.parametrize("noise", [0.0, 1e-2])
def test_the_schedule_is_the_printed_algorithm_also_for_a_start_outside_the_span(outside, noise):
    problem = make_dir(400, 150, 6, concentration=1.0, noise=noise, random_state=0)
    start = problem.start + outside * np.random.default_rng(0).standard_normal(problem.start.shape)
    model = AND(6, init=start, threshold=(0.1, 1.1), inner_steps=20, max_iter=15).fit(problem.X)
    expected = literal(problem.X, start, 0.1, 1.1, 15, 20)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(model.components_, expected, atol=1e-9)


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.seeds(3)
def test_features_are_found_from_the_data_alone_and_the_report_says_so(kind, seed):
    problem = PROBLEMS[kind](seed)
    model = AND(15).fit(problem.X)
    assert total_correlation_error(model.components_, problem.components, signed=True) < 1e-6
    # of features with both signs, data alone can't tell the smallest cone from larger ones
    assert model.guarantee_.verdict == ("plausible" if kind == "neg" else "recovered")


@pytest.mark.seeds
def test_at_the_noise_level_it_stops_instead_of_getting_worse(seed):
    problem = make_dir(1500, 120, 15, concentration=1.5, noise=3e-3, random_state=seed)
    errors = [
        total_correlation_error(AND(15, max_iter=n).fit(problem.X).components_, problem.components)
        for n in (200, 400)
    ]
    assert errors[0] < 0.15
    assert errors[1] <= 1.05 * errors[0]
    model = AND(15).fit(problem.X)
    assert model.outcome_.kind == "converged"
    assert model.guarantee_.verdict == "unknown"
    assert "effort='full'" in model.guarantee_.advice


@pytest.mark.seeds
def test_binary_weights_with_the_constant_threshold(seed):
    problem = make_binary(1500, 100, 20, n_active=3, random_state=seed)
    model = AND(20, init=problem.start, threshold=0.25, max_iter=12).fit(problem.X)
    assert total_correlation_error(model.components_, problem.components) < 1e-9


@pytest.mark.parametrize("share, scale", [(0.005, 1.0), (0.02, 1.0), (0.02, 10.0)])
@pytest.mark.seeds
def test_gross_outliers_are_left_out_and_named(share, scale, seed):
    problem = PROBLEMS["dir"](seed)
    X, rows = add_outliers(problem.X, share, scale=scale, random_state=seed)
    model = AND(15).fit(X)
    assert total_correlation_error(model.components_, problem.components) < 1e-6
    np.testing.assert_array_equal(np.flatnonzero(model.outlier_mask_), rows)


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_two_components_too_many_do_no_harm(noise):
    problem = make_dir(1500, 120, 15, concentration=1.5, noise=noise, random_state=0)
    if noise:
        model = AND(17).fit(problem.X)
    else:
        with pytest.warns(UserWarning, match=r"span only 15 dimension\(s\); 2 component\(s\) are 0"):
            model = AND(17).fit(problem.X)
    assert sine_errors(model.components_, problem.components).max() < 1e-2


@pytest.mark.seeds
def test_no_pure_samples_turn_the_report_red(seed):
    problem = make_binary(1500, 100, 20, n_active=3, random_state=seed)
    model = AND(20, nonnegative_components=False).fit(problem.X)
    assert sine_errors(model.components_, problem.components).max() > 0.1
    assert model.guarantee_.verdict in ("unknown", "contradicted")
    polished = AND(20).fit(problem.X)  # non-negative features with zeros say what the samples don't
    assert sine_errors(polished.components_, problem.components).max() < 0.05
    assert "both factors were fitted as non-negative" in polished.outcome_.message


@pytest.mark.seeds
def test_too_few_components_and_a_bad_start_are_not_called_recovered(seed):
    problem = PROBLEMS["dir"](seed)
    for options in ({"n_components": 13}, {"n_components": 15, "init": "random", "random_state": seed}):
        model = AND(**options).fit(problem.X)
        wrong = len(model.components_) < 15 or (
            sine_errors(model.components_, problem.components).max() > 0.05
        )
        report = model.guarantee(problem.X)
        assert report.effort == "full"
        if wrong:
            assert report.verdict != "recovered"
        assert wrong or options["n_components"] == 15


def test_the_full_report_supports_what_noise_hides_from_the_cheap_one():
    problem = make_dir(1500, 120, 5, concentration=1.0, noise=1e-3, random_state=0)
    model = AND(5).fit(problem.X)
    report = model.guarantee(problem.X)
    worst = sine_errors(model.components_, problem.components).max()
    assert report.verdict == "recovered"
    assert worst < 3 * report.estimated_error
    assert report["halves"].measured < 0.01
    assert model.guarantee_.verdict == "unknown"


def test_copies_of_few_samples_are_seen_through():
    problem = make_dir(40, 60, 15, concentration=1.5, random_state=0)
    X = np.repeat(problem.X, 40, axis=0)
    assert AND(15).fit(X).guarantee_["n_eff"].status == "violated"


def test_a_red_report_says_what_to_do_next():
    problem = PROBLEMS["dir"](0)
    X = problem.X + 1e-3 * problem.X.std() * np.random.default_rng(0).standard_normal(problem.X.shape)
    report = AND(13).fit(X).guarantee(X)
    assert report.verdict == "contradicted"
    assert "more components" in report.advice
    assert report["noise_left"].status == "violated"
    assert report["signs_of_noise"].status == "violated"


@pytest.mark.seeds
def test_weights_with_a_floor_are_the_smallest_cone_and_the_report_says_so(seed):
    """Nothing can tell A from B = (f 11' + (1 - D f) I) A: what is claimed is B, and the row says why."""
    problem = make_dir(800, 60, 6, concentration=1.0, random_state=seed)
    floor = 0.05
    B = (floor * np.ones((6, 6)) + (1 - 6 * floor) * np.eye(6)) @ problem.components
    weights = floor + (1 - 6 * floor) * problem.codes
    np.testing.assert_allclose(weights @ problem.components, problem.codes @ B, atol=1e-14)
    model = AND(6).fit(weights @ problem.components)
    assert sine_errors(model.components_, B).max() < 1e-4
    assert model.guarantee_["min x"].status == "cannot be checked"
    assert "narrower" in model.guarantee_.claim


@pytest.mark.parametrize("seed", [0, 1])
def test_more_gross_outliers_than_directions_leave_no_trace(seed):
    """The leading directions are found again without the samples that were screened out."""
    problem = make_dir(2000, 250, 5, concentration=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(2000, 80, replace=False))
    X = problem.X.copy()
    X[rows] = 3 * X.std() * np.abs(rng.standard_normal((80, 250)))
    model = AND(5).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.outlier_mask_), rows)
    clean = AND(5).fit(np.delete(X, rows, axis=0))
    np.testing.assert_allclose(model.components_, clean.components_, atol=1e-10)
