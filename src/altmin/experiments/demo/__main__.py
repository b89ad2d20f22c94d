"""Run the demo: ``python -m altmin.experiments.demo --out demo``.

Everything that it needs is inside pip packages: it works without a network and without other data.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pathlib import Path

from altmin.experiments.demo.story import STORIES, Story
from altmin.report.page import Raw, escape, page, picture, png_of, table


def main() -> None:
    """Tell the stories one by one, and write them to a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    import matplotlib

    matplotlib.use("Agg")
    for chapter in ("recover", "pictures"):
        import_module(f"altmin.experiments.demo.{chapter}")
    begin = time.perf_counter()
    cards = []
    for tell in STORIES:
        found = tell()
        print(f"{found.title}\n  {found.answer}", flush=True)
        cards.append(_card(found, out))
    spent = f"{time.perf_counter() - begin:.0f} s"
    text = page(
        "altmin: the demo",
        f"Every algorithm at work on data inside pip packages, {spent} altogether.",
        *cards,
    )
    (out / "report.html").write_text(text, encoding="utf-8")
    print(f"\n{spent}. Report: {(out / 'report.html').resolve()}")


def _card(found: Story, out: Path) -> Raw:
    pictures = ""
    for name, figure in found.figures.items():
        png = png_of(figure)
        (out / f"{name}.png").write_bytes(png)
        pictures += picture(png, found.title)
    guarantee = ""
    if getattr(found.model, "guarantee_", None) is not None:
        verdict = escape(found.model.guarantee_.verdict)
        guarantee = (
            f"<details><summary>guarantee report: <b>{verdict}</b></summary>"
            f"<div class='scroll'>{found.model.guarantee_._repr_html_()}</div></details>"
        )
    return Raw(
        f"<article><h3>{escape(found.title)}</h3><p>{escape(found.answer)}</p><pre>{escape(found.code)}</pre>"
        f"{table(found.rows)}{pictures}{guarantee}</article>"
    )


if __name__ == "__main__":
    main()
