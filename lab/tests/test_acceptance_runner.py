"""The runner of acceptance scripts finds each promise where it stands, and says so where there is none."""

import importlib
import sys
from pathlib import Path

import pytest

ACCEPTANCE = Path(__file__).parents[1] / "acceptance"


@pytest.fixture
def runner(monkeypatch, tmp_path):
    """The runner over two scripts, the first of which imports the second."""
    for name in ("run", "harness"):
        (tmp_path / f"{name}.py").write_text((ACCEPTANCE / f"{name}.py").read_text())
        monkeypatch.delitem(sys.modules, name, raising=False)
    head = "from harness import Figure, promise\n\n\n@promise\n"
    body = head + "def kept():\n    yield Figure('f', {}, at_most=2)\n"
    (tmp_path / "acc_one.py").write_text("import acc_two\n" + body.format(1))
    (tmp_path / "acc_two.py").write_text(body.format(3))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("run")
    for name in ("run", "harness", "acc_one", "acc_two"):
        sys.modules.pop(name, None)


def test_a_script_that_another_one_imports_is_run(runner, capsys):
    assert runner.main(["acc_two.kept"]) == 1
    assert "MISS acc_two.kept: f: 3" in capsys.readouterr().out


def test_a_promise_is_run_once_under_its_own_name(runner, capsys):
    assert runner.main([]) == 1
    assert capsys.readouterr().out.count("kept: f") == 2


def test_no_promise_is_not_a_kept_one(runner):
    assert runner.main(["acc_three"]) == 2
