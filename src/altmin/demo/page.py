"""The demo's report: what was asked and answered at a glance, then one card per story."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from altmin.demo.story import Story
from altmin.report.page import Raw, folded, has_matplotlib, join, page, picture, png_of, table, tag


def write_demo(stories: Sequence[Story], out: Path, seconds: float) -> Path:
    """Write ``report.html`` and the pictures as PNG files.

    Parameters
    ----------
    stories : sequence of Story
        What was found.
    out : Path
        Folder.
    seconds : float
        What it took altogether.

    Returns
    -------
    Path
        The page.
    """
    algorithms = len({story.uses for story in stories})
    lead = (
        f"{len(stories)} questions about data that come with pip packages, answered by "
        f"{algorithms} algorithms in "
        f"{seconds:.0f} seconds. With each answer there is the code that gave it and, if a model was fitted, "
        "the verdict whether to believe it, with the reasons."
    )
    text = page(
        "The demo",
        tag("ul", join(*(_line(i, story) for i, story in enumerate(stories))), class_="claims"),
        *(_card(i, story, out) for i, story in enumerate(stories)),
        lead=lead,
    )
    target = out / "report.html"
    target.write_text(text, encoding="utf-8")
    return target


def _line(number: int, story: Story) -> Raw:
    link = tag("a", story.title, href=f"#story-{number}")
    return tag("li", join(link, tag("p", story.answer, class_="soft")), class_="wide")


def _card(number: int, story: Story, out: Path) -> Raw:
    pictures = []
    for name, draw in story.figures.items() if has_matplotlib() else ():
        png = png_of(draw())
        (out / f"{name}.png").write_bytes(png)
        pictures.append(picture(png, story.title))
    guarantee: Raw | str = ""
    if getattr(story.model, "guarantee_", None) is not None:
        report = story.model.guarantee_
        summary = join("the reasons (guarantee report): ", tag("b", report.verdict))
        guarantee = folded(summary, Raw(report._repr_html_()))
    parts = join(
        tag("header", join(tag("h3", story.title), tag("span", story.uses, class_="verdict none"))),
        tag("p", story.answer),
        tag("p", story.verdict) if story.verdict else "",
        *pictures,
        table(story.rows),
        tag("pre", story.code),
        tag("p", f"Data: {story.data}.", class_="soft small"),
        guarantee,
    )
    return tag("article", parts, id=f"story-{number}")
