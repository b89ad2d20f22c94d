"""A user's script under ``mypy --strict``: the type of a fit is known, a misspelt option is an error."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import altmin

pytest.importorskip("mypy")

SCRIPT = """
import numpy as np
import altmin
X = np.ones((10, 5))
y = X[:, 0]
reveal_type(altmin.AND(3).fit(X))
reveal_type(altmin.AND(3).fit(X).components_)
reveal_type(altmin.CompleteDictionaryLearning().fit(X))
reveal_type(altmin.OnlineDictionaryLearning().partial_fit(X).components_)
reveal_type(altmin.PhaseRetrieval().fit(X, y).signal_)
reveal_type(altmin.FactorizationMachineRegressor(2).fit(X, y).factors_)
reveal_type(altmin.TopicModel(3).fit(X))
reveal_type(altmin.AND(3).fit(X).guarantee_.verdict)
reveal_type(altmin.AND(3).fit(X).history_)
altmin.AND(3, init=X[:3], threshold=(0.1, 1.1))
altmin.AND(3, decoder="typo")
altmin.AND(3, init="typo")
altmin.AND("three")
altmin.AND(3, decodr="nnls")
altmin.AND(3).fit(X).component_
altmin.OrthogonalDictionaryLearning(transform_algorithm="ompp")
altmin.FactorizationMachineRegressor(2, moments="gauss")
altmin.TopicModel(3, weighting="idf")
"""


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("types")
    (folder / "script.py").write_text(SCRIPT)
    home = Path(altmin.__file__).parents[1]
    found = home.name == "site-packages"  # mypy looks there by itself, and refuses to be sent there
    (folder / "mypy.ini").write_text("[mypy]\nstrict = True\n" + ("" if found else f"mypy_path = {home}\n"))
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "script.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line.startswith("script.py")]


def test_fit_returns_the_estimator_and_fitted_attributes_are_arrays(lines):
    revealed = [re.search(r'Revealed type is "([\w.]+)', line) for line in lines]
    names = [found[1].rsplit(".", 1)[-1] for found in revealed if found]
    assert names[:4] == ["AND", "ndarray", "CompleteDictionaryLearning", "ndarray"]
    assert names[4:] == ["ndarray", "ndarray", "TopicModel", "str", "list"]


def test_a_misspelt_option_is_an_error_and_nothing_else_is(lines):
    wrong = [int(line.split(":")[1]) for line in lines if " error: " in line]
    last = SCRIPT.count("\n")
    assert wrong == list(range(last - 7, last + 1)), lines
