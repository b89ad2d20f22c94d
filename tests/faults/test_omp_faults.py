"""Bad input to the pursuit is refused by name; a cache that can't be written is no fault."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import altmin
from altmin import omp

X, D = np.ones((4, 3)), np.eye(3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_nonzero_coefs": 4}, "n_nonzero_coefs is 4"),
        ({"n_nonzero_coefs": 0}, "n_nonzero_coefs is 0"),
        ({"n_nonzero_coefs": 1.5}, "n_nonzero_coefs is 1.5"),
        ({"tol": -1.0}, "tol"),
        ({"tol": np.ones(3)}, "tol has shape"),
        ({"tol": np.nan}, "tol"),
        ({"mask": np.ones((4, 2))}, "mask has shape"),
        ({"mask": np.full((4, 3), 0.5)}, "mask has shape"),
        ({"selection": "best"}, "selection is 'best'"),
        ({"weights": [1.0, 2.0]}, "weights has shape"),
        ({"weights": [1.0, -2.0, 1.0]}, "weights"),
    ],
)
def test_errors_name_the_argument(options, words):
    with pytest.raises(ValueError, match=words):
        omp(X, D, **options)


def test_nan_is_named_by_row_and_only_where_it_was_observed():
    bad = X.copy()
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="row 2, column 1"):
        omp(bad, D, 1)
    assert np.isfinite(omp(bad, D, 1, mask=np.isfinite(bad))).all()


def test_features_must_agree():
    with pytest.raises(ValueError, match="4 features"):
        omp(np.ones((2, 4)), D, 1)


def test_mask_on_a_sparse_matrix_is_refused():
    with pytest.raises(TypeError, match="mask"):
        omp(sp.csr_array(X), D, 1, mask=X > 0)


def test_input_is_not_written_to():
    signals, atoms, mask = X.copy(), D.copy(), np.ones((4, 3), bool)
    for array in (signals, atoms, mask):
        array.flags.writeable = False
    masked = omp(signals, atoms, 2, mask=mask)
    np.testing.assert_allclose(masked, omp(signals, atoms, 2), atol=1e-12)  # nothing is masked
    np.testing.assert_array_equal(signals, X)


@pytest.mark.slow
def test_works_where_no_cache_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    script = "import numpy as np, altmin; print(altmin.omp(np.eye(2), np.eye(2), 1).trace())"
    source = str(Path(altmin.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "2.0", done.stderr


def test_numba_is_not_imported_before_it_is_needed():
    script = "import sys, altmin.coding; sys.exit('numba' in sys.modules)"
    source = str(Path(altmin.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source}
    assert subprocess.run([sys.executable, "-c", script], env=env, timeout=120).returncode == 0
