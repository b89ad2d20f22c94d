"""Tell the stories of the demo: ``altmin demo``.

Everything that it needs is inside pip packages: it works without a network and without other data.
"""

from __future__ import annotations

import textwrap
import time
import warnings
from importlib import import_module
from pathlib import Path

from altmin.demo.page import write_demo
from altmin.demo.story import STORIES
from altmin.report.page import figure_style

CHAPTERS = ("recover", "scrambled", "words", "pictures", "tables", "measured")


def tell_stories(out: Path) -> None:
    """Tell the stories one by one, and write them to a page in the folder ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    import matplotlib

    matplotlib.use("Agg")
    warnings.simplefilter("ignore")  # advice to users of a fit: the stories tell what came out
    for chapter in CHAPTERS:
        import_module(f"altmin.demo.{chapter}")
    begin, told = time.perf_counter(), []
    with figure_style():
        for tell in STORIES:
            found = tell()
            answer = textwrap.fill(found.answer, 100, initial_indent="  ", subsequent_indent="  ")
            print(f"{found.title}\n{answer}", flush=True)
            told.append(found)
        seconds = time.perf_counter() - begin
        page = write_demo(told, out, seconds)
    print(f"\n{seconds:.0f} s. Report: {page.resolve()}")
