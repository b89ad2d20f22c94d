"""The benchmark board: the clock, skipped peers, and sentences on who is ahead."""

import json

import pytest

from altmin_lab.bench import board, page


def a_problem():
    problem = board.Problem("toy", "Toy: who is first", "error", (1e-1, 1e-3), (1.0, 2.0))
    problem.dataset("only one")(lambda quick: 5)
    problem.solver("ours", "defaults", ours=True)(lambda data, budget: iter([(0.1, 0.5), (0.5, 1e-4)]))
    problem.solver("rough but quick", "as it comes")(lambda data, budget: iter([(0.01, 0.05), (9.0, 0.04)]))
    problem.solver("endless", "stopped by the budget")(endless)
    problem.solver("absent", "not installed")(absent)
    return problem


def endless(data, budget):
    spent = 0.0
    while True:
        spent += 0.3
        yield spent, float("nan")


def absent(data, budget):
    raise ImportError("pip install absent")


def test_a_missing_peer_is_skipped_with_its_reason_and_told():
    told = []
    (result,) = board.run_problem(a_problem(), True, told.append)
    assert result.skipped == {"absent": "pip install absent"}
    assert any("absent skipped: pip install absent" in line for line in told)


def test_the_budget_ends_a_solver_that_would_go_on():
    (result,) = board.run_problem(a_problem(), True)
    assert [round(t, 1) for t, _ in result.curves["endless"]] == [0.3, 0.6, 0.9, 1.2]


def test_data_that_are_drawn_several_times_give_medians_as_far_as_all_curves_go():
    problem = board.Problem("toy", "Toy: who is first", "error", (1e-1,), (1.0, 9.0))
    problem.dataset("three", draws=3)(lambda quick, seed: seed)
    lucky = [[(1.0, 0.9), (2.0, 1e-6)], [(3.0, 0.8), (4.0, 0.7), (5.0, 0.1)], [(1.5, 0.5), (8.0, 0.2)]]
    problem.solver("ours", "defaults", ours=True)(lambda data, budget: iter(lucky[data]))
    (full,) = board.run_problem(problem, quick=False)
    assert full.curves["ours"] == [(1.5, 0.8), (4.0, 0.2)]
    (quick,) = board.run_problem(problem, quick=True)
    assert quick.curves["ours"] == [(1.0, 0.9)]  # one draw, up to the smaller budget


def test_the_least_of_three_turns_counts_for_what_is_short(monkeypatch):
    times = iter([0.03, 0.01, 0.02, 5.0])
    monkeypatch.setattr(board, "clocked", lambda call: (next(times), call()))
    assert board.steadily_clocked(lambda: "fit") == (0.01, "fit")
    assert board.steadily_clocked(lambda: "long fit") == (5.0, "long fit")


def test_sentences_name_peers_that_are_sooner_at_a_target_or_more_exact():
    problem = a_problem()
    (result,) = board.run_problem(problem, True)
    (line,) = page.not_ahead(problem, vars(result))
    assert line == "not ahead: rough but quick is at 0.1 after 0.01 CPU s, we after 0.5"
    better = {"curves": {"ours": [(1.0, 0.5)], "theirs": [(3.0, 0.1)]}}
    assert "theirs reaches 0.1 in 3 CPU s, we 0.5 in 1 s" in next(page.not_ahead(problem, better))
    alone = {"curves": {"ours": [(1.0, 0.5)], "theirs": [(3.0, 0.6)]}}
    assert next(page.not_ahead(problem, alone)).startswith("ahead")


def test_the_headline_compares_at_the_end_of_the_most_exact_peer():
    problem = a_problem()
    result = {
        "data": "d",
        "curves": {"ours": [(0.1, 0.5), (0.5, 1e-4)], "a": [(1.0, 0.2)], "b": [(2.0, 0.01)]},
    }
    line = page.headline(problem, result)
    assert line["job"] == "Toy, d" and line["best peer"] == "b: 0.01 in 2 s"
    assert (
        line["we"] == "0.5 s" and line["ratio"] == "4 times as fast" and line["our least error"] == "0.0001"
    )
    last_digit = {"ours": [(0.5, 0.01)], "a": [(0.4, 0.01), (9.0, 0.0099)], "b": [(8.0, 0.0099)]}
    assert page.headline(problem, {"data": "d", "curves": last_digit})["best peer"] == "a: 0.0099 in 0.4 s"
    worse = {"data": "d", "curves": {"ours": [(0.1, 0.5)], "b": [(2.0, 0.01)]}}
    assert page.headline(problem, worse)["ratio"] == "not reached"
    table = page.headline_lines([line])
    assert table[0].startswith("| job |") and "4 times as fast" in table[2]


def test_whole_fits_are_timed_from_their_beginning_and_steps_add_up():
    errors = dict(board.restarted(lambda effort: effort, (1, 2), float, 1e9))
    assert list(errors.values()) == [1.0, 2.0]
    points = list(board.stepwise(iter([3.0, 2.0, 1.0]), float))
    assert [error for _, error in points] == [3.0, 2.0, 1.0]
    assert sorted(points) == points


def test_results_are_kept_and_make_a_page(tmp_path, monkeypatch):
    problem = a_problem()
    results = list(board.run_problem(problem, True))
    monkeypatch.setattr(page, "problems", lambda: [problem])
    kept = json.loads(page.save(tmp_path, problem, results, True).read_text())
    assert kept["results"][0]["curves"]["ours"] == [[0.1, 0.5], [0.5, 1e-4]]
    text = page.write_page(tmp_path).read_text()
    assert "| **ours** | 0.0001 | 0.5 | 0.5 | 0.5 |" in text
    assert "- skipped: absent: pip install absent" in text
    assert "Python" in text


@pytest.mark.parametrize("name", board.FILES)
def test_every_problem_has_data_ours_and_peers_with_settings(name):
    (problem,) = board.problems([name])
    assert problem.data and problem.ours
    assert len(problem.solvers) > len(problem.ours)
    assert set(problem.settings) == set(problem.solvers)


def test_our_solver_and_a_peer_solve_a_small_problem():
    (source,) = board.problems(["pursuit"])
    data = source.data["100 atoms, 10 nonzeros"][0](True)
    data["X"] = data["X"][:60]
    ours = list(source.solvers["altmin omp"](data, 1.0))
    theirs = list(source.solvers["scikit-learn orthogonal_mp_gram"](data, 1.0))
    assert ours[0][1] == pytest.approx(theirs[0][1], rel=1e-6)


def test_the_readme_shows_the_worst_data_set_of_each_problem():
    rows = [
        {"job": "Toys, easy", "ratio": "12 times as fast"},
        {"job": "Toys, hard", "ratio": "0.5 times as fast"},
        {"job": "Cars, easy", "ratio": "3 times as fast"},
        {"job": "Cars, hard", "ratio": "not reached"},
        {"job": "Dolls, only", "ratio": ""},
    ]
    assert [row["job"] for row in page.least_flattering(rows)] == ["Toys, hard", "Cars, hard"]
