"""The calibration counts honestly, goes on where it was, and its committed rounds are what the page says."""

import json
from pathlib import Path

import pytest

from altmin_lab.calibration import page
from altmin_lab.calibration.campaign import examine, plan, read, run
from altmin_lab.calibration.rounds import final_results, judged_rounds, read_results, write_results
from altmin_lab.calibration.tally import false_claim, tally, tolerance, too_green, truly_recovered
from altmin_lab.calibration.trial import FAMILIES, kinds

DOCS = Path(__file__).parents[2] / "docs" / "calibration"


def row(error, verdict, group="clean", estimate=None, family="and"):
    said = {"verdict": verdict, "estimate": estimate}
    known = {"family": family, "kind": "k", "group": group, "number": 0}
    return {**known, "error": error, "cheap": said, "full": said}


@pytest.mark.parametrize(
    ("error", "estimate", "false"),
    [(0.009, None, False), (0.02, None, True), (0.02, 0.005, False), (0.09, 0.5, False), (0.2, 0.5, True)],
)
def test_a_claim_is_false_above_its_tolerance_and_no_estimate_excuses_a_tenth(error, estimate, false):
    assert false_claim(row(error, "recovered", estimate=estimate), "cheap") is false
    assert not false_claim(row(error, "plausible", estimate=estimate), "cheap")
    assert 0.01 <= tolerance(estimate) <= 0.1


def test_other_models_must_not_be_plausible():
    assert too_green(row(1.0, "plausible", "other"), "full")
    assert not too_green(row(1.0, "unknown", "noise"), "full")
    assert not too_green(row(1.0, "plausible", "noisy"), "full")


def test_noise_widens_what_counts_as_recovered():
    assert truly_recovered(row(0.04, "plausible", "noisy"))
    assert not truly_recovered(row(0.04, "plausible", "clean"))


def test_the_tally_counts():
    rows = [
        row(0.001, "recovered"),
        row(0.001, "plausible"),
        row(0.5, "recovered"),
        row(1, "plausible", "noise"),
    ]
    counts = tally([*rows, {**row(0, ""), "error": None}], "and")
    assert counts["problems"] == 5
    assert counts["wrong"] == 2
    assert (counts["clean"], counts["clean full"]) == (2, 0.5)
    assert counts["false full"] == counts["too green cheap"] == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_its_kinds_of_trouble(family):
    groups = {each.group for each in kinds(family)}
    assert groups == {"clean", "noisy", "other", "noise"}
    assert len({each.name for each in kinds(family)}) == len(kinds(family))


def test_a_problem_is_the_same_whenever_it_is_drawn():
    each = kinds("and")[0]
    first, again, other = each.trial(1, 0), each.trial(1, 0), each.trial(1, 1)
    assert (first.data[0] == again.data[0]).all()
    assert first.data[0].shape != other.data[0].shape or (first.data[0] != other.data[0]).any()


def test_a_round_goes_on_where_it_was(tmp_path, monkeypatch):
    from altmin_lab.calibration import campaign

    made = []

    def quick(each, number, seed):
        made.append((each.name, number))
        return {
            "family": each.family,
            "kind": each.name,
            "group": each.group,
            "number": number,
            "error": None,
        }

    monkeypatch.setattr(campaign, "examine", quick)
    path = tmp_path / "round.jsonl"
    assert run(path, ("machine",), 0, 1) == 0
    with path.open("a") as file:
        file.write('{"family": "mach')  # killed in the middle of a line
    total = len(list(plan(("machine",), 1)))
    assert len(read(path)) == len(made) == total
    run(path, ("machine",), 0, 2)
    assert len(read(path)) == len(made) == 2 * total
    assert len(set(made)) == len(made)


def test_examining_a_problem_writes_what_the_tally_reads():
    each = next(each for each in kinds("sensing") if each.name == "low-rank matrix")
    found = examine(each, 0, 0)
    assert json.loads(json.dumps(found))["full"]["verdict"] == "recovered"
    assert found["error"] < 1e-6
    assert tally([found], "sensing")["clean full"] == 1


def test_results_survive_their_table(tmp_path):
    rows = [row(0.001, "recovered", estimate=1e-7), {**row(0, ""), "error": None}]
    write_results(tmp_path / "r.csv", rows)
    again = read_results(tmp_path / "r.csv")
    assert again[0]["error"] == 0.001
    assert again[0]["full"] == {"verdict": "recovered", "estimate": 1e-7}
    assert again[1]["error"] is None


def test_every_judged_round_is_on_the_page():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    rounds = judged_rounds(DOCS)
    assert len({each.seed for each in rounds}) == len(rounds)
    for each in rounds:
        assert f"| {each.name} | {each.seed} | `{each.rules}`" in text
        assert (DOCS / f"{each.name}.csv").exists()
    assert page.summary(final_results(DOCS)) in text
