"""Scales: the same factors at every power of two that the dtype can square, and a clear refusal beyond."""

import numpy as np
import pytest

import altmin
import altmin.engine
from altmin.datasets import make_dir, make_quadratic, make_sparse_dictionary

TOPICS = make_dir(400, 12, 3, random_state=0).X
SPARSE = make_sparse_dictionary(800, 6, density=0.3, random_state=0).X
LAW = make_quadratic(800, 5, 1, random_state=0)
SIGNAL = np.square(LAW.X @ np.arange(1.0, 6.0))

FITS = {
    "AND": (lambda: altmin.AND(3, random_state=0, max_iter=20), TOPICS, None),
    "Orthogonal": (lambda: altmin.OrthogonalDictionaryLearning(max_iter=20), SPARSE, None),
    "Complete": (lambda: altmin.CompleteDictionaryLearning(random_state=0), SPARSE, None),
    "Approximate": (
        lambda: altmin.ApproximateDictionaryLearning(8, n_nonzero_coefs=2, max_iter=3, random_state=0),
        SPARSE[:300],
        None,
    ),
    "Regressor": (
        lambda: altmin.FactorizationMachineRegressor(1, random_state=0, max_iter=20), LAW.X, LAW.y,
    ),
    "Sensing": (lambda: altmin.RankOneSensing(1, random_state=0, max_iter=20), LAW.X, SIGNAL),
    "Phase": (lambda: altmin.PhaseRetrieval(random_state=0, max_iter=40), LAW.X, SIGNAL),
}  # fmt: skip


def result(make, X, y):
    model = make().fit(X) if y is None else make().fit(X, y)
    return model.components_ if y is None else model.predict(X)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(
    "dtype, powers", [("f8", (-996, -500, 230, 490, 996)), ("f4", (-120, -40, 20, 40, 120))]
)
def test_the_same_factors_or_a_clear_refusal(name, dtype, powers):
    make, X, y = FITS[name]
    X, y = X.astype(dtype), None if y is None else y.astype(dtype)
    expected = result(make, X, y)
    tolerance = 100 * np.finfo(dtype).eps * np.abs(expected).max()
    refused = []
    for power in powers:
        with np.errstate(over="ignore"):
            scaled = np.ldexp(X, power)
        try:
            np.testing.assert_allclose(result(make, scaled, y), expected, rtol=0, atol=tolerance)
        except altmin.engine.SourceError as error:
            assert "power of two" in str(error) or "infinity" in str(error)
            refused.append(power)
    moderate = 230 if dtype == "f8" else 40 if name != "Phase" else 20
    assert moderate not in refused
    if name in ("Orthogonal", "Complete"):
        assert -500 not in refused
        assert -120 not in refused
