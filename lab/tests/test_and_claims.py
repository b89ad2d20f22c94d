"""The claims of the AND paper are computed, in seconds where asked for."""

import pytest

from altmin_lab.ledger import all_claims

NAMES = sorted(name for name in all_claims() if name.startswith("and_"))
FAST = ["and_proposition_1", "and_theorem_5"]


def test_every_figure_table_and_theorem_has_its_claim():
    where = {claim.where for name, claim in all_claims().items() if name.startswith("and_")}
    for place in ("Figure 1", "Figure 3", "Figure 4", "Figure 5", "Table 1", "Theorem 1", "Theorem 4"):
        assert place in where
    assert {"Theorem 5", "Proposition 1", "Figure 2 (a, b)", "Figure 2 (c)"} <= where


@pytest.mark.parametrize("name", FAST)
def test_a_claim_gives_a_verdict_with_its_measurements(name):
    evidence = all_claims()[name].experiment(True)
    assert evidence.verdict in ("holds", "holds partly", "does not hold")
    assert evidence.measured


def test_without_the_data_a_claim_says_that_it_cannot_be_run(monkeypatch):
    monkeypatch.delenv("ALTMIN_DATA", raising=False)
    evidence = all_claims()["and_table_1"].experiment(True)
    assert evidence.verdict == "cannot be run here"
    assert "ALTMIN_DATA" in evidence.summary


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_pictures_can_be_drawn(name):
    for draw in all_claims()[name].experiment(True).figures.values():
        assert draw().axes
