"""``altmin-lab bench`` and the list of claims from the shell."""

import sys

import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")

from altmin_lab.bench import board
from altmin_lab.cli.app import main


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["altmin-lab", *words])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, "".join(capsys.readouterr())

    return run


def test_list_names_problems_data_and_solvers(call):
    code, text = call("bench", "--list")
    assert code == 0
    assert all(name in text for name in ("nonnegative", "quadratic", "BM3D", "SPAMS omp"))


def test_an_unknown_problem_is_one_line(call):
    code, text = call("bench", "--only", "nothing of the kind")
    assert code == 1
    assert "no problem contains nothing of the kind" in text
    assert "Traceback" not in text


def test_a_run_writes_json_tables_and_says_where(call, tmp_path, monkeypatch):
    toy = board.Problem("toy", "Toy", "error", (), (1.0, 1.0))
    toy.dataset("five")(lambda quick: 5)
    toy.solver("ours", "defaults", ours=True)(lambda data, budget: iter([(0.1, 0.5)]))
    monkeypatch.setattr("altmin_lab.cli.bench.problems", lambda only=(): [toy])
    monkeypatch.setattr("altmin_lab.bench.page.problems", lambda: [toy])
    code, text = call("bench", "--quick", "--out", "here")
    assert code == 0
    assert "here/README.md" in text
    assert {path.name for path in (tmp_path / "here").iterdir()} >= {"toy.json", "README.md"}


def test_claims_are_listed_whole(call):
    assert "and_figure_2_thresholds" in call("reproduce", "--list")[1]
    assert "Theorem 17" not in call("reproduce", "--list", "--only", "and_theorem_5")[1]


def test_an_unknown_claim_is_one_line(call):
    code, text = call("reproduce", "--only", "Riemann")
    assert code == 1
    assert "no claim matches Riemann" in text
