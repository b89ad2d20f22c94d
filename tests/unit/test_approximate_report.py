"""The report of approximate dictionaries: bounds that hold, promises named vacuous, verdicts never green."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import ApproximateDictionaryLearning
from altmin.datasets import make_planted_sparse
from altmin.guarantees.contract import judge
from altmin.guarantees.overcomplete import OVERCOMPLETE, AtomEvidence, plausible_atoms

X = make_planted_sparse(400, 16, 12, 2, 0.05, random_state=0).X


def test_bounds_hold_for_any_dictionary():
    model = ApproximateDictionaryLearning(8, n_nonzero_coefs=2, random_state=0).fit(X)
    report = model.guarantee_
    spectrum = np.linalg.svd(X, compute_uv=False) ** 2 / np.sum(X**2)
    assert report["rank lower bound"].measured == pytest.approx(spectrum[8:].sum(), rel=1e-6)
    assert report["rank lower bound"].status == "holds"
    left = X - model.codes_ @ model.components_
    top = np.linalg.svd(left, compute_uv=False)[0] ** 2 / np.sum(X**2)
    assert report["gain of one more atom"].measured == pytest.approx(top, rel=1e-6)


def test_a_missed_target_is_violated():
    model = ApproximateDictionaryLearning(4, n_nonzero_coefs=1, target_error=0.01, random_state=0).fit(X)
    assert model.guarantee_["achieved error"].status == "violated"


def test_vacuous_bounds_are_called_so():
    model = ApproximateDictionaryLearning(20, n_nonzero_coefs=2, random_state=0).fit(X)
    assert "Vacuous" in model.guarantee_["rank lower bound"].meaning
    assert "Vacuous" in model.guarantee_["promise of the theorem"].meaning
    assert model.guarantee_["rank lower bound"].status == "cannot be checked"


def test_no_evidence_makes_it_recovered():
    sizes = (0.1, 12, 16, 400, 800, 2, 1.0, None, None, 2, 1.0, None, 0.0, False, 12)
    fit = AtomEvidence(*sizes)
    good = {"sines": np.zeros(12), "use": np.full(12, 100.0), "held_out": 0.0, "surrogate": 1.0}
    perfect = replace(fit, **good)
    assert plausible_atoms(perfect).all()
    assert judge(OVERCOMPLETE, perfect, effort="full").verdict == "plausible"
    for worse in ({"sines": np.full(12, 0.2)}, {"use": np.full(12, 3.0)}, {"held_out": 0.9}):
        report = judge(OVERCOMPLETE, replace(perfect, **worse), effort="full")
        assert report.verdict == "unknown"
    assert judge(OVERCOMPLETE, fit).verdict == "unknown"


def test_wide_sparse_data_leave_spectra_unmeasured():
    wide = sp.random(60, 3000, density=0.01, random_state=0, format="csr")
    model = ApproximateDictionaryLearning(5, n_nonzero_coefs=2, random_state=0, max_iter=3).fit(wide)
    assert model.guarantee_["gain of one more atom"].status == "cannot be checked"
    assert model.codes_.shape == (60, 5)
