"""Discover: what is claimed, what is only suggested, and what speaks against a claim."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd

import altmin
from altmin.datasets import make_dir
from altmin.discovery import search
from altmin.discovery.families import MIXTURES
from altmin.discovery.page import write_page
from altmin.discovery.result import Candidate
from altmin.guarantees.report import GuaranteeReport, check


def find(table):
    return altmin.discover(table, budget="quick", random_state=0)


def test_a_curve_is_no_mixture_of_the_places_that_it_passes():
    """Each row is near two neighbours of a chain: few features make it up, but it isn't their sum."""
    rng = np.random.default_rng(0)
    place, size = rng.uniform(0, 16, (500, 1)), rng.uniform(0.5, 1.5, (500, 1))
    bumps = size * np.exp(-0.5 * ((np.arange(16) - place) / 3) ** 2)
    found = find(bumps + 0.01 * rng.standard_normal(bumps.shape))
    assert found.kind == "low rank"
    mixtures = next(row for row in found.candidates if row.family == "mixtures")
    assert mixtures.few_leave < MIXTURES.few_leave
    assert "follows squares" in mixtures.note


def test_weak_atoms_are_found_beside_strong_ones():
    """The strong ones alone are sparse in their span, but their report says that something is missing."""
    rng = np.random.default_rng(1)
    atoms = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    codes = rng.standard_normal((800, 8)) * (rng.random((800, 8)) < 0.15) * np.repeat([3.0, 1.0], [5, 3])
    rows = codes @ atoms
    found = find(rows + 0.02 * rows.std() * rng.standard_normal(rows.shape))
    assert (found.kind, found.n_components) == ("sparse combinations, orthogonal atoms", 8)
    fewer = [row for row in found.candidates if row.claimed and row.verdict == "contradicted"]
    assert [row.n_components for row in fewer] == [5]


def test_an_offset_is_no_atom():
    rng = np.random.default_rng(2)
    codes = rng.standard_normal((600, 5)) * (rng.random((600, 5)) < 0.2)
    rows = codes @ rng.standard_normal((5, 8)) + 0.01 * rng.standard_normal((600, 8)) + rng.uniform(5, 20, 8)
    found = find(rows)
    assert (found.kind, found.n_components) == ("sparse combinations", 5)


def test_mixtures_that_predict_as_low_rank_does_may_leave_more():
    """Weights that are spread over all features: few leave more, and the report confirms nothing."""
    found = find(make_dir(400, 12, 3, concentration=0.8, noise=5e-3, random_state=1).X)
    assert (found.kind, found.n_components) == ("mixtures", 3)
    assert found.guarantee.verdict == "unknown"
    assert MIXTURES.few_leave < found.candidates[0].few_leave < 0.25


def test_features_that_vary_a_little_are_suggested_and_not_claimed(tmp_path, monkeypatch):
    """Three features, each of another shape in every row, have many dimensions; weak ones are set aside."""
    rng = np.random.default_rng(4)
    features, weights = rng.random((3, 20)), rng.dirichlet(np.full(3, 0.2), 400)
    shapes = np.einsum("nke,ked->nkd", rng.standard_normal((400, 3, 8)), rng.standard_normal((3, 8, 20)))
    rows = np.einsum("nk,nkd->nd", weights, features * (1 + 0.01 * shapes))
    found = find(pd.DataFrame(rows, columns=[f"band {i}" for i in range(20)]))
    assert found.kind == "low rank" and found.n_components > 6
    assert found.best is None and found.closest is not None and not found.closest.claimed
    assert altmin.metrics.sine_errors(found.closest.model.components_, features).max() < 0.1
    assert "Mixtures of 3 features come close: they explain 99." in found.why[1]
    assert "altmin.AND(n_components=3," in found.code
    page = write_page(found, tmp_path / "page.html", "spectra").read_text()
    assert "What comes close" in page and "Nothing confirms" in page
    monkeypatch.setattr(search, "few_leave", lambda model, seen: 0.35)  # as surveys and skewed columns do
    assert find(rows).closest is None


def test_what_comes_close_has_few_features_and_nothing_else_against_it():
    def closest(*ranked, coarse=None):
        looked = SimpleNamespace(coarse=coarse, seen=SimpleNamespace(look=SimpleNamespace(n_features=20)))
        return search._Search._closest(looked, ranked)

    mixtures = Candidate("mixtures", 10, 0.01, 0.0, "unknown", {}, 0.0, few_leave=0.2)
    assert closest(mixtures) is mixtures
    assert closest(replace(mixtures, n_components=11)) is None  # hardly fewer than columns
    assert closest(replace(mixtures, few_leave=0.31)) is None
    assert closest(replace(mixtures, family="sparse combinations")) is None
    bent, groups = replace(mixtures, note=search._BENT), replace(mixtures, note="these are groups")
    assert closest(bent) is None
    assert closest(mixtures, bent, coarse=bent) is bent  # features that vary bend rows, too
    assert closest(mixtures, groups, coarse=groups) is mixtures


def test_a_little_curvature_as_of_rounded_values_is_forgiven():
    def said(t, **changes):
        row = check("samples are sums", "|t|", "", t, at_most=4.0, meaning="", id="straight", **changes)
        return search._bent(SimpleNamespace(guarantee_=GuaranteeReport("contradicted", (row,))))

    assert said(7.5, decisive=True) == ""
    assert said(9.0, decisive=True) == search._BENT
    assert said(9.0) == ""  # of counts it decides nothing
