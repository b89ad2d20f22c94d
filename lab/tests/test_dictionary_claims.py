"""The claims of the dictionary paper run at their quick size, and judge as they do at full size."""

import pytest

from altmin_lab.claims import dictionary_complete, dictionary_online, dictionary_orthogonal

EXPECTED = {
    dictionary_orthogonal.dictionary_figure_2: "holds",
    dictionary_orthogonal.dictionary_linear_rate: "holds",
    dictionary_complete.dictionary_statistical_error: "holds",
    dictionary_online.dictionary_online_error: "holds",
    dictionary_online.dictionary_rank_one_updates: "holds partly",
}


@pytest.mark.parametrize("experiment", EXPECTED, ids=lambda e: e.__name__)
def test_claim_is_judged(experiment):
    evidence = experiment(True)
    assert evidence.verdict == EXPECTED[experiment], evidence.summary
    assert evidence.measured


def test_the_printed_algorithm_5_fails_and_the_meant_one_does_not():
    measured = dictionary_online.dictionary_rank_one_updates(True).measured
    assert measured["printed fails"] == 1.0
    assert measured["P alone"] < 1e-11 < measured["as meant"] < 1e-6
