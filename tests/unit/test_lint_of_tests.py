"""The lint of the tests: what it calls a test that can't fail."""

import ast
import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("check_tests", Path(__file__).parents[1] / "check_tests.py")
check_tests = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_tests)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("True", True),
        ("'words'", True),
        ("not (a and b)", True),
        ("not a or not b", True),
        ("a or not b", False),
        ("not a", False),
        ("not (a or b)", False),
        ("not a and not b", False),
        ("a == b", False),
    ],
)
def test_assertions_that_hold_whatever_happens(text, fault):
    assert check_tests.never_fails(ast.parse(text, mode="eval").body) is fault


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ("x = 1", 1),
        ("assert x", 0),
        ("with pytest.raises(ValueError):\n        f()", 0),
        ("np.testing.assert_allclose(a, b)", 0),
        ("helper()", 0),
        ("idle()", 1),
        ("assert True", 1),
        ("if x:\n        assert y", 1),
        ("if x:\n        assert y\n    else:\n        assert z", 0),
        ("for x in y:\n        if x:\n            assert z\n    assert y", 0),
    ],
)
def test_tests_without_an_assertion(body, faults, tmp_path):
    file = tmp_path / "test_x.py"
    file.write_text(
        f"def helper():\n    assert y\n\n\ndef idle():\n    pass\n\n\ndef test_it():\n    {body}\n"
    )
    assert len(check_tests.of(file)) == faults
