"""What a release says about itself agrees with itself."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import altmin

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    assert altmin.__version__ == version
    for name in ("CITATION.cff", "conda/meta.yaml", "CHANGELOG.md", "lab/pyproject.toml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.search(rf"\b{re.escape(version)}\b", text), name
    assert re.search(
        rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )


def test_every_dependency_and_extra_has_its_oldest_version_pinned():
    declared = {}
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for line in lines:
            if found := re.match(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)$", line):
                assert declared.setdefault(found[1], found[2]) == found[2], (
                    f"{found[1]} has two oldest versions"
                )
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.removesuffix(".*").split("==") for line in lines if "==" in line)
    assert set(pins) == set(declared)
    for name, pin in pins.items():
        assert f"{pin}.".startswith(f"{declared[name]}."), (name, pin, declared[name])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatchling", reason="the extra 'dev' is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_the_wheel_says_who_wrote_it_and_where_the_papers_are(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = archive.read(name).decode()
    assert "Author: the altmin developers" in metadata
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    urls = re.findall(r"^Project-URL: (.*), (\S+)$", metadata, re.M)
    assert len(urls) == 4  # the papers; an index refuses labels of more than 32 signs
    assert all(len(label) <= 32 and f'"{address}"' in cited for label, address in urls)
    assert "](docs/" not in metadata and "](CONTRIBUTING" not in metadata  # links that an index can't follow


def test_the_sdist_can_run_its_own_tests(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    needed = {
        "Makefile", "CONTRIBUTING.md", "CITATION.cff", "SECURITY.md", "conftest.py", "constraints-oldest.txt",
        "lab/pyproject.toml", "docs/conf.py", "docs/kmeans_estimator.py", "tests/docs/test_release.py",
        "tests/golden/and.altmin", "conda/meta.yaml", "examples/extend/plot_kmeans.py",
    }  # fmt: skip
    assert needed <= names, needed - names
