"""The mutation runner: which bugs it makes, which tests it chooses, and what it calls caught."""

import inspect
import json
import sys
import textwrap
from pathlib import Path

import pytest

from altmin.datasets import make_dir
from altmin_lab.mutation import campaign
from altmin_lab.mutation.operators import draw, mutants_of
from altmin_lab.mutation.page import page
from altmin_lab.mutation.reach import Reach, Watch

SOURCE = textwrap.dedent(
    '''
    """A module."""

    LIMIT = 0.5


    def total(values, weight=None, *, start=0.0):
        """Sum up."""
        if weight is not None and len(weight) != len(values):
            raise ValueError("weight: one number for each value")
        rows = [one(values), two(values), three(values, scale=2)]
        check(values)
        for i in range(len(values)):
            start = start + values[i] * 2
        return start if start <= LIMIT else max(rows[0], start)
    '''
)


def test_every_operator_finds_its_place():
    found = {mutant.operator for mutant in mutants_of("m.py", SOURCE)}
    assert found == {
        "comparison flipped", "bound ten times as wide", "condition constant", "condition left out",
        "branch skipped", "argument ignored", "term dropped", "sign or product swapped", "off by one",
        "opposite function",
        "step left out", "error not raised", "row left out",
    }  # fmt: skip


def test_texts_annotations_and_imports_are_left_alone():
    talk = '"""Text."""\nfrom a import b\n__all__ = ["x", "y", "z"]\n'
    talk += 'def f(x: int = 3) -> "a < b":\n    return f"{x < 2}"\n'
    assert list(mutants_of("m.py", talk)) == []


def test_planting_changes_one_place():
    for mutant in mutants_of("m.py", SOURCE):
        planted = mutant.plant(SOURCE)
        assert planted != SOURCE
        assert planted.startswith(SOURCE[: mutant.start])
        assert planted.endswith(SOURCE[mutant.stop :])


def test_columns_are_counted_in_characters():
    source = 'def f(a):\n    return "ä" if a < 1 else a\n'
    flipped = next(m for m in mutants_of("m.py", source) if m.operator == "comparison flipped")
    assert "if a >= 1 else" in flipped.plant(source)


def test_a_draw_is_the_same_for_a_seed_and_hits_no_function_twice_by_one_operator(tmp_path):
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "p.py").write_text(SOURCE)
    first, again, other = (draw(tmp_path, 12, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({(mutant.operator, mutant.function) for mutant in first}) == len(first)
    assert {mutant.path for mutant in first} == {"m.py"}


def test_a_draw_can_be_kept_to_some_rooms(tmp_path):
    for room in ("engine", "io", "cli"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "m.py").write_text(SOURCE)
    assert {mutant.package for mutant in draw(tmp_path, 30, 0)} == {"engine", "io", "cli"}
    assert {mutant.package for mutant in draw(tmp_path, 30, 0, ["io", "cli"])} == {"io", "cli"}


CALLS = """\
LIMIT = 3


def kernel(x):
    return x


def caller(x):
    if x > 2:
        x = LIMIT
    return kernel(x)


def far(x):
    return caller(x)
"""


def test_tests_are_chosen_by_the_lines_that_they_run_quick_ones_first(tmp_path):
    (tmp_path / "m.py").write_text(CALLS)
    (tmp_path / "n.py").write_text("def alone(x):\n    return x\n")
    whole, short, far = (sum(1 << line for line in lines) for lines in ((9, 10, 11), (9, 11), (15,)))
    reach = Reach(
        {"t::slow": {"m.py": whole}, "t::quick": {"m.py": short}, "t::far": {"m.py": far | 1}},
        {"t::slow": 9.0, "t::quick": 0.1, "t::far": 0.1},
    )

    def chosen(path, line, limit=60):
        return reach.tests_for(path, line, str(tmp_path), limit)

    assert chosen("m.py", 11) == ["t::quick", "t::slow"]
    assert chosen("m.py", 11, 5) == ["t::quick"]
    assert chosen("m.py", 10) == ["t::slow"]
    reach.seconds["v::slow"], reach.lines["v::slow"] = 9.0, {"m.py": whole}
    assert chosen("m.py", 10, 5) == ["t::slow"]
    reach.catches["v"] += 1  # a file that catches bugs is asked earlier
    assert chosen("m.py", 10, 5) == ["v::slow"]
    del reach.lines["v::slow"]
    # Compiled functions are called where Python can't see: those that name them count, the nearest first.
    assert chosen("m.py", 5) == ["t::quick", "t::slow"]
    assert chosen("m.py", 1) == ["t::quick", "t::slow"]  # what names the constant
    del reach.lines["t::slow"], reach.lines["t::quick"]
    assert chosen("m.py", 5) == ["t::far"]
    reach.lines["t::names"], reach.seconds["t::names"] = {}, 0.1
    reach.looks.add("t::names")
    assert chosen("m.py", 1) == ["t::names", "t::far"]  # what looks at names, and what runs what uses them
    assert chosen("m.py", 5) == ["t::far"]
    reach.looks.clear()
    assert chosen("n.py", 2) == []
    assert chosen("gone.py", 1) == []


def test_lines_are_watched_as_they_run():
    watch = Watch()
    sys.settrace(watch.look)
    try:
        make_dir(5, 4, 2, random_state=0)
    finally:
        sys.settrace(None)
    source = Path(inspect.getfile(make_dir)).read_text().splitlines()
    ran = watch.seen()["datasets/nonnegative.py"]
    lines = [source[n - 1].strip() for n in range(1, len(source) + 1) if ran >> n & 1]
    assert any(line.startswith("rng = ") for line in lines)
    assert not any(line.startswith("raise ") for line in lines)


def test_the_first_look_takes_the_quickest_and_always_one():
    seconds = {"a": 1.0, "b": 0.4, "c": 0.2}
    assert campaign.in_two(["a", "b", "c"], seconds) == [["a", "b"], ["c"]]
    assert campaign.in_two(["a"], {"a": 9.0}) == [["a"]]


def _project(root: Path) -> Path:
    """A small checkout with one module; its test sees the sum, and not the bound."""
    package = root / "src" / "altmin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "sums.py").write_text("def total(a, b):\n    if a > 1e9:\n        a = 1e9\n    return a + b\n")
    (root / "tests").mkdir()
    (root / "tests" / "test_sums.py").write_text(
        "from altmin.sums import total\n\n\ndef test_total():\n    assert total(1, 2) == 3\n\n\n"
        "def test_that_fails_in_a_copy():\n    assert total is None\n"
    )
    reach = root / "out" / "reach"
    reach.mkdir(parents=True)
    tests = [f"tests/test_sums.py::{name}" for name in ("test_that_fails_in_a_copy", "test_total")]
    lines, seconds = {key: {"sums.py": "14"} for key in tests}, dict(zip(tests, (0.01, 0.02), strict=True))
    (reach / "main.json").write_text(json.dumps({"lines": lines, "seconds": seconds}))
    return root


def test_caught_bugs_and_survivors_are_told_apart_and_a_second_run_asks_nothing_again(tmp_path):
    root = _project(tmp_path)
    said: list[str] = []
    lines = campaign.run(root, root / "out", count=20, seed=0, jobs=1, say=said.append)
    fate = {line["mutant"]["operator"]: line["fate"] for line in lines}
    assert fate["term dropped"] == "caught"
    assert fate["branch skipped"] == "survived"
    assert {line["by"] for line in lines if line["fate"] == "caught"} == {"tests/test_sums.py::test_total"}
    assert (root / "src" / "altmin" / "sums.py").read_text().count("a + b") == 1
    again: list[str] = []
    assert campaign.run(root, root / "out", count=20, seed=0, jobs=2, say=again.append) == lines
    assert said != []
    assert again == []


def test_the_page_counts_by_package_and_leaves_out_equivalents(monkeypatch, tmp_path):
    mutant = next(iter(mutants_of("engine/run.py", SOURCE)))
    other = next(iter(mutants_of("io/tables.py", SOURCE)))
    lines = [
        json.loads(campaign.Trial(mutant, "caught", 3).to_json()),
        json.loads(campaign.Trial(other, "survived", 2).to_json()),
    ]
    text = page(lines, 5)
    assert "| engine | 1 | 1 | 0 | 0 | 0 | 100% |" in text
    assert "| all | 2 | 1 | 1 | 0 | 0 | 50% |" in text
    known = tmp_path / "equivalents.json"
    known.write_text(json.dumps({other.key: "it changes nothing"}))
    monkeypatch.setattr("altmin_lab.mutation.page.EQUIVALENTS", known)
    assert "| all | 2 | 1 | 0 | 0 | 1 | 100% |" in page(lines, 5)
    assert "| io | 1 | 0 | 0 | 0 | 1 | - |" in page(lines, 5)
    assert "it changes nothing" in page(lines, 5)
    known.write_text(json.dumps({mutant.key: "a test shows that it does change something"}))
    assert "| engine | 1 | 1 | 0 | 0 | 0 | 100% |" in page(lines, 5)


def test_files_that_are_looked_at_again_replace_what_was_known_of_them(tmp_path):
    def write(part, tests):
        known = {"lines": {key: {"m.py": "4"} for key in tests}, "seconds": dict.fromkeys(tests, 1.0)}
        (tmp_path / part).write_text(json.dumps(known))

    write("gw0.json", ["t.py::old", "u.py::kept"])
    write("since-1.json", ["t.py::new"])
    assert set(Reach.read(tmp_path).lines) == {"t.py::new", "u.py::kept"}


def test_tests_that_are_gone_are_no_catch(tmp_path):
    root = _project(tmp_path / "project")
    known = Reach.read(root / "out" / "reach")
    mutant = draw(root / "src" / "altmin", 1, seed=0)[0]
    warm = campaign.Warm(root, tmp_path / "copy")
    file = warm.copy / "tests" / "test_sums.py"
    file.write_text("def test_of_another_name():\n    assert True\n")
    with pytest.raises(RuntimeError, match="survey"):
        warm(mutant, list(known.lines), known.seconds)
    file.write_text("def test_total():\n    assert True\n")
    trial = warm(mutant, list(known.lines), known.seconds)
    warm.close()
    assert (trial.fate, trial.n_tests) == ("survived", 1)  # by the one that is left


def test_without_a_survey_it_says_what_to_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="mutate --survey"):
        Reach.read(tmp_path)
