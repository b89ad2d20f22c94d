"""Public names: lazy, in step with what type checkers see, and costing nothing before they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import altmin


def test_every_name_can_be_loaded():
    for name in altmin.__all__:
        assert getattr(altmin, name) is not None
    assert set(dir(altmin)) >= set(altmin.__all__)


def test_type_checkers_are_told_the_same():
    tree = ast.parse(Path(altmin.__file__).read_text())
    told = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("altmin")
        for alias in node.names
    }
    assert told == {**altmin._HOMES, **dict.fromkeys(altmin._MODULES, "altmin")}


def test_import_loads_neither_numpy_nor_scikit_learn():
    code = "import sys, altmin; print({'numpy', 'sklearn', 'scipy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_unknown_names_raise():
    try:
        _ = altmin.nothing
    except AttributeError as error:
        assert "nothing" in str(error)
    else:
        raise AssertionError("no error")
