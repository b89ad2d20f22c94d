"""Documentation: builds without warnings and without a network, examples run, links lead somewhere."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import Figure, promise

ROOT = Path(__file__).parents[2]


@promise
def documentation() -> Iterator[Figure]:
    """`make docs`: 0 warnings, 0 broken links, nothing loaded from another host, at least 15 examples run."""
    sys.path.insert(0, str(ROOT / "docs"))
    from check_links import broken_links, other_hosts

    if not (ROOT / "docs" / "_static" / "mathjax" / "tex-chtml-full.js").exists():
        target = "docs/_static/mathjax/tex-chtml-full.js"
        subprocess.run(["make", target], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for folder in ("gallery", "api/generated", "api/backreferences"):
        shutil.rmtree(ROOT / "docs" / folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "html"
        # Nothing answers at this proxy: a build that asked the network for anything would fail or warn.
        offline = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
        environment = {**os.environ, **offline, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "sphinx", "-E", "-q", "-b", "html", str(ROOT / "docs"), str(out)]
        before = _children()
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        seconds = _children() - before
        log = done.stdout + done.stderr
        ran = list((ROOT / "docs" / "gallery").rglob("images/sphx_glr_plot_*_001.png"))
        pages = list(out.rglob("*.html"))
        yield Figure("exit code of sphinx-build", float(done.returncode), at_most=0)
        yield Figure("warnings and errors", float(len(re.findall(r"WARNING|ERROR", log))), at_most=0)
        yield Figure("examples that ran and drew a figure", float(len(ran)), at_least=15)
        yield Figure("examples", float(len(list((ROOT / "examples").glob("*/plot_*.py")))), at_most=len(ran))
        yield Figure("pages", float(len(pages)), at_least=60)
        yield Figure("broken links inside", float(len(broken_links(out))), at_most=0)
        yield Figure("things loaded from another host", float(len(other_hosts(out))), at_most=0)
        yield Figure("CPU seconds of the build, gallery included", seconds, at_most=300)
        if done.returncode:
            sys.stdout.write(log)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
