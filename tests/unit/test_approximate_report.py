"""The report of approximate dictionaries: bounds that hold, promises named vacuous, verdicts never green."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from altmin import ApproximateDictionaryLearning
from altmin.datasets import make_planted_sparse
from altmin.guarantees import overcomplete
from altmin.guarantees.contract import judge
from altmin.guarantees.overcomplete import OVERCOMPLETE, AtomEvidence, plausible_atoms

PERFECT = AtomEvidence(
    0.1, 12, 16, 400, 800, 2, 1.0, None, None, 2, 1.0, None, 0.0, False, 12, sines=np.zeros(12),
    use=np.full(12, 100.0), held_out=0.0, surrogate=1.0,
)  # fmt: skip
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
    assert plausible_atoms(PERFECT).all()
    assert judge(OVERCOMPLETE, PERFECT, effort="full").verdict == "plausible"
    for worse in ({"sines": np.full(12, 0.2)}, {"use": np.full(12, 3.0)}, {"held_out": 0.9}):
        report = judge(OVERCOMPLETE, replace(PERFECT, **worse), effort="full")
        assert report.verdict == "unknown"
    unseen = replace(PERFECT, sines=None, use=None, held_out=np.nan, surrogate=np.nan)
    assert judge(OVERCOMPLETE, unseen).verdict == "unknown"


def test_wide_sparse_data_leave_spectra_unmeasured():
    wide = sp.random(60, 3000, density=0.01, random_state=0, format="csr")
    model = ApproximateDictionaryLearning(5, n_nonzero_coefs=2, random_state=0, max_iter=3).fit(wide)
    assert model.guarantee_["gain of one more atom"].status == "cannot be checked"
    assert model.codes_.shape == (60, 5)


@pytest.mark.parametrize("surrogate", [0.1, 3.0])
@pytest.mark.parametrize(("share", "structured"), [(0.99, True), (1.01, False)])
def test_atoms_are_plausible_where_gaussian_data_would_be_coded_worse(surrogate, share, structured):
    held_out = share * overcomplete.SURROGATE * surrogate
    fit = replace(PERFECT, held_out=held_out, surrogate=surrogate)
    assert plausible_atoms(fit).all() == structured
    assert plausible_atoms(fit).any() == structured
    for name, value in (("sines", 1.01 * overcomplete.HALVES), ("use", 0.99 * overcomplete.USE)):
        changed = np.array(getattr(PERFECT, name), float)
        changed[1] = value
        found = plausible_atoms(replace(PERFECT, held_out=0.0, **{name: changed}))
        assert found.tolist() == [k != 1 for k in range(len(found))]
