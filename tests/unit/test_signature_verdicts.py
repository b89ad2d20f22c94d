"""Verdicts of signatures: what each test stands for, and that a missing signature is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from altmin.guarantees.contract import judge
from altmin.signatures import SignatureModel
from altmin.signatures.verdicts import SIGNATURES, SignatureEvidence


def planted(K, n=90, depth=3000, seed=0):
    rng = np.random.default_rng([seed, K])
    A = rng.dirichlet(np.full(96, 0.1), K)
    Z = depth * rng.dirichlet(np.full(K, 0.4), n)
    Z[Z < 0.05 * depth] = 0.0
    return rng.poisson(Z @ A).astype(float), A


def nearest(model, A):
    S = model.signatures_.values
    return ((S @ A.T) / np.outer(np.linalg.norm(S, axis=1), np.linalg.norm(A, axis=1))).max(axis=1)


def words(report):
    return [factor.verdict for factor in report.factors]


def test_signatures_that_come_again_are_recovered():
    X, A = planted(4)
    model = SignatureModel(4, n_refits=3).fit(X)
    assert words(model.guarantee(X)) == ["recovered"] * 4
    assert model.guarantee_.verdict == "recovered"
    assert nearest(model, A).min() > 0.95
    assert [row["verdict"] for row in model.summary()] == ["recovered"] * 4
    angles = np.arccos(np.clip(nearest(model, A), -1, 1))
    assert all(angle <= factor.bound for angle, factor in zip(angles, model.guarantee_.factors, strict=True))


def test_one_signature_too_few_leaves_structure_and_recovers_nothing():
    X, _ = planted(5, seed=1)
    model = SignatureModel(4, n_refits=3).fit(X)
    report = model.guarantee(X)
    assert "recovered" not in words(report)
    assert next(row for row in report.conditions if row.id == "noise_left").status == "violated"


def test_one_signature_too_many_is_not_recovered_and_the_others_are():
    X, A = planted(4, seed=2)
    model = SignatureModel(5, n_refits=3).fit(X)
    said = np.array(words(model.guarantee(X))) == "recovered"
    assert said.sum() >= 3
    assert nearest(model, A)[said].min() > 0.95


def test_without_refits_nothing_is_recovered():
    X, _ = planted(3)
    assert set(words(SignatureModel(3, n_refits=0).fit(X).guarantee(X))) == {"unknown"}


GOOD = SignatureEvidence(
    drawn=np.full(2, 0.99),
    halves=np.full((2, 2), 0.98),
    starts=np.full(2, 1.0),
    more=np.full(2, 0.999),
    alone=np.full(2, 20.0),
    samples=np.full(2, 40),
    structured=1.05,
)


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [("drawn", 0.951, 0.949), ("starts", 0.951, 0.949), ("more", 0.951, 0.949), ("alone", 5, 4)],
)
def test_each_test_speaks_of_its_signature_alone(name, inside, outside):
    assert words(judge(SIGNATURES, replace(GOOD, **{name: np.array([99.0, inside])}))) == ["recovered"] * 2
    report = judge(SIGNATURES, replace(GOOD, **{name: np.array([99.0, outside])}))
    assert report.factors[0].verdict == "recovered"
    assert report.factors[1].verdict == ("plausible" if name == "alone" else "unknown")
    assert report.factors[1].against
    assert report.verdict == report.factors[1].verdict


def test_the_worse_half_counts_and_structure_speaks_of_all():
    halves = np.array([[0.98, 0.98], [0.98, 0.89]])
    assert words(judge(SIGNATURES, replace(GOOD, halves=halves))) == ["recovered", "unknown"]
    assert words(judge(SIGNATURES, replace(GOOD, structured=1.19))) == ["recovered"] * 2
    assert "recovered" not in words(judge(SIGNATURES, replace(GOOD, structured=1.21)))
