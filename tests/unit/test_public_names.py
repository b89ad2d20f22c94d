"""Public names: lazy, in step with their type stubs, and costing nothing before they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import altmin


def test_every_name_can_be_loaded():
    for name in altmin.__all__:
        assert getattr(altmin, name) is not None
    assert set(dir(altmin)) >= set(altmin.__all__)


def test_stubs_say_the_same():
    tree = ast.parse(Path(altmin.__file__).with_suffix(".pyi").read_text())
    stubs = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                stubs[alias.asname] = node.module
    homes = {**altmin._HOMES, **dict.fromkeys(altmin._MODULES, "altmin")}
    assert stubs == homes


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
