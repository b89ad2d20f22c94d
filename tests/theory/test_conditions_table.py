"""docs/theory/conditions.md against the code: the rows and tests that it names exist, none is missing."""

import re
from pathlib import Path

import numpy as np
import pytest

from altmin import (
    AND,
    ApproximateDictionaryLearning,
    CompleteDictionaryLearning,
    FactorizationMachineRegressor,
    OnlineDictionaryLearning,
    OrthogonalDictionaryLearning,
    RankOneSensing,
)
from altmin.datasets import make_dir, make_planted_sparse, make_quadratic, make_sparse_dictionary

HERE = Path(__file__).parent
TABLE = HERE.parents[1] / "docs" / "theory" / "conditions.md"
TESTS = set(re.findall(r"^def (test_\w+)", (HERE / "test_violated_conditions.py").read_text(), re.M))
PAPERS = {
    "Li and Liang 2017": "Li & Liang",
    "Liang, Zhang": "Liang et al.",
    "Bhaskara and Tai 2019": "Bhaskara & Tai",
    "Lin and Ye 2016": "Lin & Ye",
}
THEOREMS = {
    "Li and Liang 2017": ["1", "4", "5", "26"],
    "Liang, Zhang": ["1", "2", "3"],
    "Bhaskara and Tai 2019": ["4", "6", "7", "9", "17"],
    "Lin and Ye 2016": ["1", "4", "15"],
}


def table():
    """(paper, where, symbol, test or reason) of each line."""
    paper, found = "", []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = next(name for name in PAPERS if line[3:].startswith(name))
        cells = re.match(r"\| (.*) \| (.*) \| `(.*)` \| (.*) \|$", line)
        if cells:
            symbol = cells[3].replace(r"\|", "|")  # a bar in a table is escaped
            found.append((paper, cells[1].split(" | ")[0], symbol, cells[4]))
    return found


def reports():
    """The reports of a fit of each family, at their fullest."""
    weights = make_dir(300, 20, 4, concentration=1.0, random_state=0)
    sparse = make_sparse_dictionary(600, 5, density=0.2, orthogonal=True, random_state=0)
    rows = make_planted_sparse(200, 12, 10, 2, 0.02, random_state=0).X
    law = make_quadratic(400, 5, 1, random_state=0)
    start = sparse.components
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((300, 4)), rng.standard_normal((300, 3))
    approximate = ApproximateDictionaryLearning(10, n_nonzero_coefs=2, contamination=0.05, max_iter=3)
    yield "Li and Liang 2017", AND(4, init=weights.start).fit(weights.X)
    yield "Liang, Zhang", OrthogonalDictionaryLearning().fit(sparse.X)
    yield "Liang, Zhang", CompleteDictionaryLearning(init=start, random_state=0).fit(sparse.X)
    yield "Liang, Zhang", OnlineDictionaryLearning(batch_size=300, random_state=0).fit(sparse.X)
    yield "Bhaskara and Tai 2019", approximate.set_params(random_state=0).fit(rows)
    yield "Lin and Ye 2016", FactorizationMachineRegressor(1, random_state=0).fit(law.X, law.y)
    yield "Lin and Ye 2016", RankOneSensing(1, random_state=0).fit((U, V), U[:, 0] * V[:, 1])


@pytest.fixture(scope="module")
def rows():
    found = {}
    for paper, model in reports():
        found.setdefault(paper, {}).update({row.symbol: row for row in model.guarantee_})
    return found


def test_every_line_names_a_row_and_a_test_or_a_reason(rows):
    assert len(table()) > 50
    for paper, _, symbol, how in table():
        assert symbol in rows[paper], f"{paper}: no row {symbol}"
        if how.startswith("cannot be checked"):
            assert rows[paper][symbol].status == "cannot be checked", symbol
            assert len(how) > len("cannot be checked: ")
        else:
            assert how in TESTS, f"{symbol}: no test {how}"


def test_no_row_that_cites_a_paper_is_missing(rows):
    listed = {(paper, symbol) for paper, _, symbol, _ in table()}
    information = {
        "sum_{j>m} s_j^2",
        "s_1(residual)^2",
        "beta",
        "(m d + 2 nnz) / (n d)",
    }  # bounds, no conditions
    citing = {
        (paper, symbol)
        for paper, found in rows.items()
        for symbol, row in found.items()
        if PAPERS[paper] in row.reference and symbol not in information
    }
    assert citing
    assert citing <= listed, f"not in conditions.md: {sorted(citing - listed)}"


@pytest.mark.parametrize("paper", THEOREMS)
def test_every_theorem_has_lines(paper):
    where = " ".join(line for name, line, _, _ in table() if name == paper)
    numbers = set(re.findall(r"\d+", " ".join(re.findall(r"Theorems? [^;(]*(?:\([^)]*\)[^;(]*)*", where))))
    assert set(THEOREMS[paper]) <= numbers
