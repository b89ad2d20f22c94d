"""Every claim can fail: it has a wrong program, and that program changes its verdict.

Verdicts themselves are not pinned: they are computed, and better programs may change them.
"""

from __future__ import annotations

import ast
import inspect
import os
from functools import cache
from pathlib import Path

import pytest

from altmin_lab import claims
from altmin_lab.ledger import BESIDE, CANNOT, VACUOUS, all_claims, judge, turned

CLAIMS = all_claims()
VERDICTS = ("holds", "holds partly", "does not hold", VACUOUS)
FAST = {  # a second or less together with its wrong program
    "and_lemmas": ("and_stage_lemma", "and_noisy_inverse"),
    "dictionary": ("dictionary_lemma_5", "dictionary_rank_one_updates"),
    "machine": ("fm_lemma_11", "fm_lemma_12", "fm_lemma_13", "fm_lemma_14"),
    "approximate": ("approximate_lemma_10", "approximate_lemma_11", "approximate_observation_18"),
}
QUICK = {name for names in FAST.values() for name in names}


WITHOUT_A_LAW = {  # tables, identities and examples: nothing to draw
    "and_proposition_1",
    "and_conditions_not_enough",
    "and_table_1",
    "approximate_observation_18",
    "approximate_outlier_tables",
}
WITHOUT_HYPOTHESES = {
    "approximate_lemma_12",  # true of any rows
    "approximate_theorem_17",  # of any matrix
    "approximate_outlier_tables",  # of peers
}
WITHOUT_AN_ALGORITHM = {
    "and_proposition_1",  # constants of distributions
    "approximate_observation_18",  # an identity
    "approximate_outlier_tables",  # peers; the printed Algorithm 2 is judged by Theorem 7
    "fm_shifted_rip",  # concentration of a batch's moments
}


def marked(name):
    return name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)


@cache
def run(name):
    """Evidence of the small run, judged once for all tests."""
    claim = CLAIMS[name]
    if claim.data and not os.environ.get("ALTMIN_DATA"):
        pytest.skip("ALTMIN_DATA does not name the folder with the real data")
    return claim.experiment(True)


def test_there_are_enough_claims_and_the_fast_ones_exist():
    assert len(CLAIMS) >= 65
    assert set(CLAIMS) >= QUICK


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_has_the_papers_sentence_and_a_wrong_program(name):
    claim = CLAIMS[name]
    assert claim.says.endswith(".") and claim.says[0].isupper()
    assert (claim.paper == "beyond") == (claim.sentence == "")
    parameters = inspect.signature(claim.experiment).parameters
    assert claim.wrong is not None and claim.wrong.says and claim.wrong.change
    for argument, value in claim.wrong.change.items():
        assert parameters[argument].default is not inspect.Parameter.empty
        assert parameters[argument].default != value


def test_what_is_more_than_a_lemma_has_the_printed_algorithm_beside_ours():
    lemmas = ("Lemma", "Corollary 14")
    without = {
        claim.name
        for claim in CLAIMS.values()
        if claim.paper != "beyond" and not claim.where.startswith(lemmas) and not claim.literal
    }
    assert without == WITHOUT_AN_ALGORITHM


def test_theorems_and_lemmas_have_hypotheses():
    proven = [c for c in CLAIMS.values() if any(w in c.where for w in ("Theorem", "Lemma", "Corollary"))]
    assert {c.name for c in proven if not c.assumes} == WITHOUT_HYPOTHESES


@pytest.mark.parametrize("file", sorted(Path(claims.__file__).parent.glob("*.py")), ids=lambda f: f.stem)
def test_hypotheses_are_computed_and_never_typed_in(file):
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    checks = [call for call in calls if getattr(call.func, "id", "") == "Check"]
    assert not [call.lineno for call in checks if isinstance(call.args[0], ast.Constant)]


@pytest.mark.parametrize("name", [marked(name) for name in CLAIMS])
def test_the_wrong_program_changes_the_verdict(name):
    claim = CLAIMS[name]
    right = run(name)
    assert right.verdict in VERDICTS, right.summary
    wrong = claim.mutant()
    said = f"{right.verdict}: {right.summary}\n{wrong.verdict}: {wrong.summary}"
    assert turned(right.verdict, wrong.verdict), said


@pytest.mark.parametrize("name", [marked(name) for name in CLAIMS])
def test_a_claim_checks_its_hypotheses_shows_two_columns_and_can_be_drawn(name):
    claim = CLAIMS[name]
    evidence = run(name)
    assert set(evidence.hypotheses) == set(claim.assumes)
    unmet = {name: check.found for name, check in evidence.hypotheses.items() if not check.met}
    assert bool(unmet) == (evidence.verdict == VACUOUS), unmet  # no theorem is judged outside its hypotheses
    assert all(check.found for check in evidence.hypotheses.values())
    if claim.literal:
        assert all({"as printed", "as altmin does it"} <= set(row) for row in evidence.tables[BESIDE])
    assert evidence.figures or claim.paper == "beyond" or name in WITHOUT_A_LAW
    for draw in evidence.figures.values():
        assert draw().axes


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.data])
def test_without_the_data_a_claim_says_what_is_missing(name, monkeypatch):
    monkeypatch.delenv("ALTMIN_DATA", raising=False)
    if name.startswith("images_face"):
        import altmin_lab.claims.images_faces as faces

        faces._problem.cache_clear()
    evidence = CLAIMS[name].experiment(True)
    assert evidence.verdict == CANNOT and "ALTMIN_DATA" in evidence.summary


def test_every_theorem_lemma_figure_and_table_of_the_papers_has_a_claim():
    places = {paper: " | ".join(c.where for c in CLAIMS.values() if c.paper == paper) for paper in PAPERS}
    for paper, wanted in PAPERS.items():
        for place in wanted:
            assert place in places[paper], f"{paper}: {place}"


PAPERS = {
    "and-nmf": [
        "Theorem 1",
        "Theorem 4",
        "Theorem 5",
        "Theorem 26",
        "Proposition 1",
        "Lemma 10",
        "Lemma 11",
        "Lemma 24",
        "Figure 1",
        "Figure 2 (a",
        " b)",
        "Figure 2 (c)",
        "Figure 3",
        "Figure 4",
        "Figure 5",
        "Table 1",
        "Title",
        "one sample",
        "Section 6.1",
    ],
    "complete-dictionary-learning": [
        "Theorem 1",
        "Theorem 2",
        "Theorem 3",
        "Lemma 1",
        "Lemma 2",
        "Lemma 3",
        "Lemma 4",
        "Lemma 5",
        "Figure 1",
        "Figure 2",
        "Figure 3",
        "Algorithm 4",
        "Algorithm 5",
        "Section 3.4.1",
        "Section 4",
    ],
    "one-pass-gfm": [
        *(f"Lemma {i}" for i in range(5, 15)),
        "Theorem 1",
        "Theorem 4",
        "Theorem 15",
        "symmetric",
        "phase",
    ],
    "approximate-dictionary-learning": [
        "Theorem 4",
        "Theorem 6",
        "Theorem 7",
        "Theorem 9",
        "Theorem 17",
        "Lemma 10",
        "Lemma 11",
        "Lemma 12",
        "Lemma 13",
        "Lemma 15",
        "Corollary 5",
        "Corollary 14",
        "Observation 18",
        "Definition 3",
    ],
}


def test_a_misprint_holds_partly_and_a_bound_that_says_nothing_is_vacuous():
    assert judge(False, mended=[True]) == "holds partly"
    assert judge(True, False, mended=[False]) == "does not hold"
    assert judge(True, False, mended=[True], speaks=False) == VACUOUS
    assert judge(True, False, speaks=False) == "does not hold"
    assert judge(False, speaks=False) == "does not hold"


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        ("holds", "holds partly", True),
        ("holds", "holds", False),
        ("holds partly", "does not hold", True),
        ("holds partly", "holds", False),  # a wrong program must not look better
        ("does not hold", "holds", True),
        (VACUOUS, "does not hold", True),
        (VACUOUS, VACUOUS, False),
        ("holds", CANNOT, False),
    ],
)
def test_when_a_verdict_has_turned(before, after, answer):
    assert turned(before, after) is answer
