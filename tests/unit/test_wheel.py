"""The wheel holds the library and its command line, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LABORATORY = ("lab", "claims", "peers", "calibration", "benchmarks", "acceptance", "experiments", "tests")


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    pytest.importorskip("hatchling", reason="the extra 'dev' is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_every_module_of_the_source_tree_is_in_it(names):
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert modules <= set(names)
    assert {"altmin/py.typed", "altmin/report/style.css"} <= set(names)


def test_nothing_else_is_in_it(names):
    folders = {part for name in names for part in Path(name).parts[:-1]}
    assert not folders & set(LABORATORY)
    others = [name for name in names if not name.startswith("altmin/") and ".dist-info/" not in name]
    assert not others
    kinds = {Path(name).suffix for name in names if name.startswith("altmin/")}
    assert kinds <= {".py", ".typed", ".css", ""}
