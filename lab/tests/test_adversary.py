"""The adversary composes its kinds, splits them once, counts honestly, and goes on where it was."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from altmin_lab.adversary import campaign, larger, page, quadratics
from altmin_lab.adversary.compose import sines
from altmin_lab.adversary.kinds import FAMILIES, kinds, standardised
from altmin_lab.adversary.rounds import JudgedRound, judged_rounds, keep, last_results, results
from altmin_lab.adversary.tally import coverage, false_claim, false_factors, tally, tolerance, true_fit

DOCS = Path(__file__).parents[2] / "docs" / "calibration"


def test_there_are_many_kinds_and_none_is_on_both_sides():
    tuned, judged = ({(each.family, each.name) for each in kinds(side)} for side in (False, True))
    assert len(tuned) >= 150 and len(judged) >= 150
    assert not tuned & judged
    assert not {each.perturbation.name for each in kinds(False, ("and",))} & {
        each.perturbation.name for each in kinds(True, ("and",))
    }


LARGER = (*larger.DICTIONARIES, *larger.CONES, *larger.QUADRATICS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("held_out", [False, True])
def test_every_kind_draws_finite_data_and_the_same_again(family, held_out):
    for number, each in enumerate(kinds(held_out, (family,))):
        if each.base in LARGER and number % 12:  # they take as long as all the others
            continue
        first, again = each.trial(3, 0), each.trial(3, 0)
        for a, b in zip(first.data, again.data, strict=True):
            assert np.isfinite(a).all(), each.name
            np.testing.assert_array_equal(a, b)


def row(error, errors, verdict, factors, group="noisy"):
    said = {"verdict": verdict, "estimate": 0.01, "factors": factors, "against": []}
    known = {"family": "and", "kind": "a x b", "number": 0, "group": group, "holds": True}
    return {**known, "error": error, "errors": errors, "cheap": said, "full": said}


def test_the_whole_and_its_factors_are_counted_apart():
    half = row(1.0, [0.001, 0.3], "plausible", [["recovered", 0.01, 0.02], ["unknown", 0.01, 0.02]])
    lie = row(1.0, [0.001, 0.3], "recovered", [["recovered", 0.01, 0.02], ["recovered", 0.01, 0.02]])
    assert not false_claim(half, "full") and false_factors(half, "full") == 0
    assert false_claim(lie, "full") and false_factors(lie, "full") == 1
    assert not true_fit(half)
    counts = tally([half, lie], "and")
    assert (counts["wrong"], counts["false full"], counts["factors said full"]) == (2, 1, 3)
    assert coverage([half, lie]) == (2, 3)


def test_sines_are_those_of_the_nearest_factor():
    assert sines(np.array([[1.0, 0.0], [1.0, 1.0]]), np.eye(2)) == pytest.approx([0.0, np.sqrt(0.5)])


@pytest.mark.parametrize(("estimate", "most"), [(None, 0.01), (0.005, 0.025), (0.5, 0.1)])
def test_no_estimate_excuses_a_tenth(estimate, most):
    assert tolerance(estimate) == pytest.approx(most)


def test_a_small_error_on_data_of_another_model_is_no_recovery_to_be_said():
    found = row(0.001, [0.001], "unknown", [["unknown", None, None]])
    assert true_fit(found) and not true_fit({**found, "holds": False})


def test_a_round_goes_on_where_it_was(tmp_path, monkeypatch):
    made = []

    def quick(each, number, seed):
        made.append((each.name, number))
        return {"family": each.family, "kind": each.name, "number": number, "error": None}

    monkeypatch.setattr(campaign, "examine", quick)
    path = tmp_path / "round.jsonl"
    assert campaign.run(path, ("machine",), 0, 1, held_out=True) == 0
    total = len(list(kinds(True, ("machine",))))
    assert campaign.run(path, ("machine",), 0, 2, held_out=True) == 0
    assert len(campaign.read(path)) == len(set(made)) == len(made) == 2 * total


def test_results_survive_their_file(tmp_path):
    found = row(0.0012345, [0.001, 0.3], "plausible", [["recovered", 0.01, 0.02], ["unknown", None, None]])
    one = JudgedRound("r", 1, "abc", {"and": 1})
    keep(one, [found], tmp_path)
    (tmp_path / "rounds.json").write_text(json.dumps([vars(one)]))
    assert last_results(tmp_path) == results(one, tmp_path)
    before, after = (tally(rows, "and") for rows in ([found], last_results(tmp_path)))
    assert before == after


def test_every_judged_round_is_on_the_page():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    rounds = judged_rounds(DOCS)
    assert len({each.seed for each in rounds}) == len(rounds)
    for each in rounds:
        assert f"| {each.name} | {each.seed} |" in text
    assert page.claims(last_results(DOCS)) in text


@pytest.mark.parametrize("linear", [True, False])
def test_what_is_true_of_a_curve_is_the_quadratic_that_comes_closest(linear):
    law = quadratics.BASES[0].act(np.random.default_rng(5), linear)
    v, w, M = quadratics.direction(law), law.w, law.M
    law.target = lambda X, y: y + 0.3 * (X @ v) ** 3 + 0.2 * (X @ v) ** 4
    slope, matrix = quadratics.closest(law)
    # Of standard Gaussian features the cube's closest line is three times its argument, and that of the
    # fourth power six times the square less a constant, spread over all squares where none is fitted.
    assert slope == pytest.approx(w + 0.9 * v * linear, abs=0.02)
    d = len(w)
    constant = 0.0 if linear else -0.2 * 3 / (d + 2)
    assert matrix == pytest.approx(M + 0.2 * 6 * np.outer(v, v) + constant * np.eye(d), abs=0.03)


def test_a_fit_to_a_curve_is_judged_by_the_closest_quadratic():
    kind = next(e for e in kinds(False, ("machine",)) if e.name == "much noise, many rows x exponential term")
    assert np.median([error_of_least_squares(kind.trial(1, number)) for number in range(5)]) < 0.04


def error_of_least_squares(trial):
    X, y = trial.data
    first, second = np.triu_indices(X.shape[1])
    columns = np.hstack([np.ones((len(X), 1)), X, X[:, first] * X[:, second]])
    found = np.linalg.lstsq(columns, y, rcond=None)[0]
    M = np.zeros((X.shape[1], X.shape[1]))
    M[first, second] = found[-len(first) :] / 2
    return trial.error(SimpleNamespace(coef_=found[1 : 1 + X.shape[1]], matrix=lambda: M + M.T))


def test_coefficients_are_compared_about_the_mean_of_the_features():
    rng = np.random.default_rng(0)
    X, w, S = 3 + 2 * rng.standard_normal((500, 3)), rng.standard_normal(3), rng.standard_normal((3, 3))
    unit, centre = X.std(axis=0), X.mean(axis=0)
    found = standardised(w, S + S.T, unit, centre)
    Z = (X - centre) / unit
    there = Z @ found[:3] + np.einsum("ni,ij,nj->n", Z, found[3:].reshape(3, 3), Z)
    here = X @ w + np.einsum("ni,ij,nj->n", X, S + S.T, X)
    np.testing.assert_allclose(np.ptp(here - there), 0.0, atol=1e-9)
