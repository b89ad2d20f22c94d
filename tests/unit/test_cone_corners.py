"""Components beyond the purest samples, and components too close for the noise, are seen."""

import numpy as np
import pytest

from altmin import AND
from altmin.guarantees.cone_shape import shape
from altmin.guarantees.contract import judge
from altmin.guarantees.nonnegative import NONNEGATIVE, ConeEvidence

RNG = np.random.default_rng(0)
WEIGHTS = np.vstack([RNG.dirichlet(np.full(3, 0.4), 400), np.repeat(np.eye(3), 20, axis=0)])
A = RNG.gamma(1.0, size=(3, 20)) / 20


def found(codes, blur=0.005, **changes):
    """The full evidence of a fit with noise, all of it in order but for the codes."""
    noise = np.full(3, 0.005) if np.isscalar(blur) else np.asarray(blur)
    at_noise = shape(codes, A, level=0.01, blur=noise)
    facts = {
        "noise": 0.02, "halves": np.full(3, 0.01), "restarts": np.zeros(3), "at_noise": at_noise,
        "structured": 1.0, "drifting": 0.0, "excess": 0.5, "curved": 0.5, "multiplied": 1.0,
        "cut": 0.0, "lost": 0.0,
        "room": np.zeros(3), "pure": True,
    }  # fmt: skip
    return ConeEvidence(at_noise, 0.02, **{**facts, **changes})


def test_pure_samples_in_the_corners_are_no_objection():
    report = judge(NONNEGATIVE, found(WEIGHTS), effort="full")
    assert report.verdict == "recovered", report.advice


@pytest.mark.parametrize(("share", "verdict"), [(0.95, "recovered"), (0.91, "plausible")])
def test_a_cone_beyond_the_purest_samples_is_plausible_at_best(share, verdict):
    rest = np.where(WEIGHTS[:400] < 0.05, 0.0, WEIGHTS[:400])
    rest = rest[rest.max(axis=1) < 0.85]
    purest = np.repeat(share * np.eye(3) + (1 - share) * np.roll(np.eye(3), 1, axis=1), 20, axis=0)
    report = judge(NONNEGATIVE, found(np.vstack([rest, purest])), effort="full")
    assert report.verdict == verdict, report.advice
    assert {row.id: row.status for row in report.conditions}["corners"] == (
        "holds" if verdict == "recovered" else "violated"
    )


@pytest.mark.parametrize(("blur", "verdict"), [((0.06, 0.06, 0.002), "plausible"),
                                               ((0.03, 0.03, 0.002), "recovered"),
                                               ((0.06, 0.06, 0.03), "recovered")])  # fmt: skip
def test_components_too_close_for_the_noise_leave_the_others_open(blur, verdict):
    evidence = found(WEIGHTS, np.array(blur) * np.quantile(WEIGHTS, 0.999, axis=0))
    report = judge(NONNEGATIVE, evidence, effort="full")
    assert {factor.verdict for factor in report.factors} == {verdict}


def test_two_close_features_with_noise_are_not_called_recovered():
    rng = np.random.default_rng(4)
    features = rng.gamma(2.0, size=(4, 40))
    features[1] = features[0] + 0.02 * features[1]
    weights = rng.dirichlet(np.full(4, 0.4), 800)
    weights[:80] = np.eye(4)[rng.integers(4, size=80)]
    X = weights @ features
    X += 0.01 * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    assert AND(4).fit(X).guarantee(X, assume="pure").verdict != "recovered"
