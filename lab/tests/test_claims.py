"""Every claim can fail: it has a wrong program, and that program changes its verdict.

Verdicts themselves are not pinned: they are computed, and better programs may change them.
"""

from __future__ import annotations

import inspect
import os
from functools import cache

import pytest

from altmin_lab.ledger import BESIDE, CANNOT, VACUOUS, Check, all_claims, judge, turned

CLAIMS = all_claims()
VERDICTS = ("holds", "holds partly", "does not hold", VACUOUS)
FAST = {  # a second or less together with its wrong program
    "and_lemmas": ("and_stage_lemma", "and_noisy_inverse"),
    "and": ("and_theorem_5", "and_conditions_not_enough"),
    "dictionary": ("dictionary_lemma_1", "dictionary_lemma_5", "dictionary_rank_one_updates"),
    "machine": ("fm_lemma_11", "fm_lemma_12", "fm_lemma_13", "fm_lemma_14", "fm_symmetric"),
    "approximate": ("approximate_lemma_10", "approximate_lemma_11", "approximate_observation_18"),
}
QUICK = {name for names in FAST.values() for name in names}


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


@pytest.mark.parametrize("name", [marked(name) for name in CLAIMS])
def test_the_wrong_program_changes_the_verdict(name):
    claim = CLAIMS[name]
    right = run(name)
    assert right.verdict in VERDICTS, right.summary
    wrong = claim.mutant()
    assert turned(right.verdict, wrong.verdict), f"{right.verdict}: {right.summary}\n{wrong.verdict}: "
    f"{wrong.summary}"


@pytest.mark.parametrize("name", [marked(name) for name in CLAIMS])
def test_a_claim_checks_its_hypotheses_shows_two_columns_and_can_be_drawn(name):
    claim = CLAIMS[name]
    evidence = run(name)
    assert set(evidence.hypotheses) == set(claim.assumes)
    assert all(check.found for check in evidence.hypotheses.values())
    if claim.literal:
        assert all({"as printed", "as altmin does it"} <= set(row) for row in evidence.tables[BESIDE])
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


def test_a_misprint_holds_partly_and_a_hypothesis_that_is_not_met_decides_nothing():
    unmet = {"n large": Check(False, "n 3")}
    assert judge(False, mended=[True]) == "holds partly"
    assert judge(True, False, mended=[False]) == "does not hold"
    assert judge(False, assumed=unmet) == VACUOUS
    assert judge(True, assumed=unmet) == "holds"
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
