"""The theorems' conditions, for evidence whose numbers can be followed by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees import dictionary_theory
from altmin.guarantees.dictionary_theory import DictionaryEvidence, theorem_conditions
from altmin.guarantees.nonnegative_theory import theory_rows, weight_constants
from altmin.guarantees.overcomplete import OVERCOMPLETE, AtomEvidence
from altmin.guarantees.quadratic_theory import feature_rows, pace_rows, quadratic_rows

ATOMS = DictionaryEvidence(
    np.array([[2.0, 0.1], [-1.0, 0.3], [0.2, -4.0], [4.0, 2.0]]), np.array([0.5, 1.0]), np.array([2.0, 3.0]),
    np.array([0.75, 0.5]), np.array([[1.0, 0.0], [0.6, 0.8]]), 10_000, 0.01, (0.4, 0.2, 0.05, 0.01), None, 2,
    batch=1000, start=0.05,
)  # fmt: skip
WEIGHTS = weight_constants(np.array([[2.0, 0, 0], [0, 1, 0], [0.0, 0.5, 4.0], [1.0, 0, 0.2], [0.1, 1, 0]]))
RAW = Lens(
    np.zeros(4), np.ones(4), 0.0, 1.0, blind=np.array([True, False, False, False]), correlation=0.6,
    skewness=0.4, excess=1.5,
)  # fmt: skip
CORRECTED = replace(RAW, kappa=np.zeros(4), phi=3 * np.ones(4), T=np.eye(4))
QUADRATIC = SimpleNamespace(
    largest=2.0, smallest=0.5, tail=0.1, slope=3.0, sigma=0.2, left=0.1, rip=0.5, rip_more=0.25,
    parameters=30, kurtosis=4.0,
)  # fmt: skip
PEELED = AtomEvidence(
    0.02, 4, 8, 100, 300, 4, 1.5, np.arange(8, 0, -1) / 36, np.full(8, 0.0025), 3, 2.0, 0.3, 0.1, False, 5,
    trimmed_gap=1.2,
)  # fmt: skip
IN_THEORY = replace(
    PEELED, theory=True, target=None, contamination=0.0, n_atoms=9, data_spectrum=None, residual_spectrum=None
)


def assumed(symbol):
    """What no data can check."""
    return (symbol, None, "assumed", "cannot be checked")


ROWS = {
    "orthogonal dictionary": (
        lambda: theorem_conditions(replace(ATOMS, theorem=1)),
        [
            ("max theta / min theta", 1.5, "<= 2", "holds"),
            ("|t| of E z", 1.091089451, "<= 4.5", "holds"),
            ("kurtosis", 1.857142857, "<= 10", "holds"),
            ("gap", 5.066666667, ">= 2", "holds"),
            assumed("i.i.d."),
            ("theta", 0.625, "<= 0.00694", "violated"),
            ("p theta^2 / n", 195.3125, ">= 1", "holds"),
            ("start", 0.05, "<= 1", "holds"),
            ("zeta / Gamma", 0.5, "<= 0.5", "holds"),
            ("noise", 0.01, "<= 1e-6", "violated"),
            ("rate", 0.25, "<= 0.8", "holds"),
        ],
    ),
    "complete dictionary": (
        lambda: theorem_conditions(ATOMS),
        [
            ("max theta / min theta", 1.5, "<= 2", "holds"),
            ("|t| of E z", 1.091089451, "<= 4.5", "holds"),
            ("kurtosis", 1.857142857, "<= 10", "holds"),
            ("gap", 5.066666667, ">= 2", "holds"),
            assumed("i.i.d."),
            ("theta", 0.625, "<= 0.000179", "violated"),
            ("p theta^2 / n", 195.3125, ">= 1", "holds"),
            ("p / (n^2 log n kappa^12 / theta^2 Gamma)", 0.1207987467, ">= 1", "violated"),
            ("kappa(A)", 2.0, "<= 1000", "holds"),
            ("start", 0.05, "<= 0.0156", "violated"),
            ("zeta / Gamma", 0.5, "<= 0.5", "holds"),
            ("noise", 0.01, "<= 1e-6", "violated"),
            ("rate", 0.25, "<= 0.8", "holds"),
        ],
    ),
    "cone": (
        lambda: theory_rows(
            WEIGHTS, negative=0.06, smallest=0.5, condition=3.0, noise=0.1, start=0.2, outside=0.1
        ),
        [
            ("x >= 0", 0.06, "<= 0.05", "violated"),
            ("r", 1.482, "<= 0.919", "violated"),
            ("k", 0.675, "<= 0.304", "violated"),
            ("m", 0.9, "<= 0.0826", "violated"),
            ("m_q", 0.9, "<= 5.12e-7", "violated"),
            ("lambda", 0.7348614499, ">= 1e-9", "holds"),
            ("x in {0,1}", 0.5, "<= 0.05", "violated"),
            ("q", 0.2313782132, ">= 1", "violated"),
            assumed("min x"),
            ("l", 0.2, "<= 1", "holds"),
            assumed("Sigma"),
            ("rho", 0.2, "<= 1", "holds"),
            ("gamma_2", 0.2, "<= 1", "holds"),
            ("gamma", 0.6050120061, "<= 1", "holds"),
            assumed("zeta"),
            assumed("i.i.d."),
            assumed("T, eta"),
        ],
    ),
    "features as they are": (
        lambda: feature_rows(RAW, raw=True),
        [
            ("max |kappa|", 0.4, "<= 0.5", "holds"),
            ("max |phi - 3|", 1.5, "<= 1", "violated"),
            ("||S - I||_2", 0.6, "<= 0.5", "violated"),
            ("phi - 1 - kappa^2", 1.0, "<= 0", "violated"),
            assumed("i.i.d."),
            assumed("E[xi x] = 0"),
        ],
    ),
    "corrected features": (
        lambda: feature_rows(CORRECTED, raw=False),
        [
            ("max |kappa|", 0.4, "<= inf", "holds"),
            ("max |phi - 3|", 1.5, "<= inf", "holds"),
            ("||S - I||_2", 0.6, "<= inf", "holds"),
            ("phi - 1 - kappa^2", 1.0, "<= 0", "violated"),
            assumed("i.i.d."),
            assumed("E[xi x] = 0"),
        ],
    ),
    "pace": (
        lambda: pace_rows(10, 2, 30.0, 0.8, 0.2),
        [
            ("n / (k d)", 1.5, ">= 2", "violated"),
            ("sqrt(rho_t+1 / rho_t)", 0.8, "<= 0.75", "violated"),
            ("rho", 0.2, "<= 1", "holds"),
        ],
    ),
    "quadratic": (
        lambda: quadratic_rows(QUADRATIC, 10, 2, 1000.0, 5000, 0.5),
        [
            ("xi", 0.1, "<= 1e-6", "violated"),
            ("n / (c^2 k^3 d)", 0.008313035528, ">= 1", "violated"),
            ("delta allowed", 0.25, "<= 0.419", "holds"),
            ("fresh", 0.5, ">= 1", "violated"),
            ("delta", 0.25, "<= 1", "holds"),
            ("1.7 xi sqrt(d/N)", 0.02633628675, "<= 0.1", "holds"),
            ("sigma_k+1 / sigma_k", 0.2, "<= 0.5", "holds"),
            ("r / (sigma_k - sigma_k+1)", 0.840569415, "<= 1", "holds"),
            ("kurtosis of r", 4.0, "<= 10", "holds"),
        ],
    ),
    "peeled atoms": (
        lambda: [test.row for test in OVERCOMPLETE.tests(PEELED)],
        [
            ("psi", 0.02, "<= 0.3", "holds"),
            ("sum_{j>m} s_j^2", 0.2777777778, "<= 0.02", "violated"),
            ("s_1(residual)^2", 0.0025, "<= 0.02", "holds"),
            ("(m d + 2 nnz) / (n d)", 0.79, "<= 1", "holds"),
            ("smallest outlier score / largest other", 1.2, ">= 1.5", "violated"),
            ("Lambda-hat", 1.5, "<= 2", "holds"),
            ("k'", 4.0, "<= 3", "violated"),
            ("gamma* + max(eps, 16 m Lambda / (beta t))", 85333.33333, "< 1 to say anything", "violated"),
            ("tau", 0.0009375, "<= 1", "holds"),
            ("beta", 0.00046875, "for information", "cannot be checked"),
            assumed("gamma*"),
            assumed("||a*||"),
            assumed("alpha, beta"),
            ("alternatives", None, "not known", "cannot be checked"),
        ],
    ),
    "peeled atoms, the paper's algorithm": (
        lambda: [test.row for test in OVERCOMPLETE.tests(IN_THEORY)],
        [
            ("psi", 0.02, "not known", "cannot be checked"),
            ("sum_{j>m} s_j^2", None, "<= 0.02", "cannot be checked"),
            ("s_1(residual)^2", None, "<= 0.02", "cannot be checked"),
            ("(m d + 2 nnz) / (n d)", 0.84, "<= 1", "holds"),
            ("Lambda-hat", 1.5, "<= 2", "holds"),
            ("k'", 4.0, "<= 8", "holds"),
            ("gamma* + max(eps, 16 m Lambda / (beta t))", 37925.92593, "< 1 to say anything", "violated"),
            ("tau", 0.0009375, "<= 1", "holds"),
            ("beta", 0.00046875, "for information", "cannot be checked"),
            assumed("gamma*"),
            assumed("||a*||"),
            assumed("alpha, beta"),
            ("alternatives", None, "not known", "cannot be checked"),
        ],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_the_theorems(name):
    found, expected = ROWS[name][0](), ROWS[name][1]
    assert [(row.symbol, row.required, row.status) for row in found] == [(s, r, t) for s, _, r, t in expected]
    for row, (symbol, measured, *_) in zip(found, expected, strict=True):
        assert row.measured == (None if measured is None else pytest.approx(measured, rel=1e-8)), symbol
        assert row.meaning != ""
        assert row.reference != ""


def test_constants_of_weights():
    """Scaled to at most 1; r is a quantile of row sums, k, m and lambda come from the second moments."""
    x = np.array([[1, 0, 0], [0, 1, 0], [0, 0.5, 1], [0.5, 0, 0.05], [0.05, 1, 0]])
    second = x.T @ x / 5
    assert WEIGHTS["k"] == pytest.approx(1.5 * second.max())
    assert WEIGHTS["m"] == pytest.approx(9 * second[1, 2])
    assert WEIGHTS["lambda"] == pytest.approx(3 * np.linalg.eigvalsh(second)[0] / WEIGHTS["k"])
    assert WEIGHTS["r"] == pytest.approx(np.quantile(x.sum(axis=1), 0.99))
    assert WEIGHTS["between"] == pytest.approx(4 / 8)
    assert WEIGHTS["D"] == 3.0


def test_what_is_not_known_cannot_be_checked():
    nothing = dict.fromkeys(("r", "k", "m", "lambda", "q", "D", "between"), np.nan)
    unknown = dict.fromkeys(("negative", "smallest", "condition", "noise", "start", "outside"))
    assert {row.status for row in theory_rows(nothing, **unknown)} == {"cannot be checked"}


def test_of_many_codes_some_are_enough():
    """What the others hold is not looked at."""
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((60_000, 2)) < 0.5, rng.standard_normal((60_000, 2)), 0.0)
    wild = codes.copy()
    wild[1::2] = 99.0
    rows, half, alone = (
        [row.measured for row in theorem_conditions(replace(ATOMS, codes=made))]
        for made in (codes, wild, codes[::2])
    )
    assert rows == half == alone


def test_codes_that_are_all_below_their_thresholds_leave_no_smallest_one():
    rows = {row.symbol: row for row in theorem_conditions(replace(ATOMS, theorem=1, codes=np.zeros((4, 2))))}
    assert rows["zeta / Gamma"].status != "holds"
    assert dictionary_theory._smallest(replace(ATOMS, codes=np.zeros((4, 2)))) == 0.0
    codes = np.array([[2.0, 0.0], [-4.0, 0.1], [6.0, -3.0]])
    kept = np.abs([2.0 / 2, 4.0 / 2, 6.0 / 2, 3.0 / 3])  # 0.1 is below the threshold
    assert dictionary_theory._smallest(replace(ATOMS, codes=codes)) == pytest.approx(np.quantile(kept, 0.01))
