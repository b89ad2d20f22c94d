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
from altmin.report.page import draw_without_a_screen, figure_style, has_matplotlib

CHAPTERS = ("discovered", "recover", "scrambled", "words", "pictures", "tables", "measured")


# The pip packages of modules that stories import, where the names differ.
PACKAGES = {"skimage": "scikit-image", "PIL": "pillow"}


def tell_stories(out: Path) -> None:
    """Tell the stories one by one, and write them to a page in the folder ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    draw_without_a_screen()
    warnings.simplefilter("ignore")  # advice to users of a fit: the stories tell what came out
    for chapter in CHAPTERS:
        import_module(f"altmin.demo.{chapter}")
    begin, told = time.perf_counter(), []
    for tell in STORIES:
        try:
            found = tell()
        except ImportError as error:
            print(f"{tell.__name__.replace('_', ' ')}: skipped, it needs {_package(error)}", flush=True)
            continue
        print(found.title, flush=True)
        for text in filter(None, (found.answer, found.verdict)):
            print(textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  "), flush=True)
        told.append(found)
    seconds = time.perf_counter() - begin
    with figure_style():
        page = write_demo(told, out, seconds)
    print(f"\n{seconds:.0f} s. Report: {page.resolve()}")
    if not has_matplotlib():
        print("The report has no pictures, because matplotlib is not installed.")
    if not has_matplotlib() or len(told) < len(STORIES):
        print("pip install 'altmin[demo]' installs everything that the demo uses.")


def _package(error: ImportError) -> str:
    """The pip package that is missing; scikit-learn tells of pillow in its message only."""
    name = (error.name or ("PIL" if "illow" in str(error) else str(error))).split(".")[0]
    return PACKAGES.get(name, name)
