"""A self-contained HTML page: text, tables and pictures in one file that asks no host for anything."""

from __future__ import annotations

import base64
import html
import io
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

DPI = 160  # crisp on dense screens
_COLOURS = ["0072B2", "D55E00", "009E73", "CC79A7", "E69F00", "56B4E9", "444444"]
FIGURE_STYLE = {
    "figure.dpi": 100,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#818b98",
    "axes.labelcolor": "#3d444d",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6eaef",
    "grid.linewidth": 0.8,
    "xtick.color": "#59636e",
    "ytick.color": "#59636e",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    # Okabe and Ito's colours: told apart by colour-blind readers too
    "axes.prop_cycle": f"cycler('color', {_COLOURS})",
}


class Raw(str):
    """Text that is HTML already; everything else is escaped."""

    __slots__ = ()


def asset(name: str) -> str:
    """A style sheet or script that lies beside this file."""
    return (files("altmin.report") / name).read_text(encoding="utf-8")


def escape(value: Any) -> str:
    """HTML of any value: escaped, unless it is :class:`Raw`; numbers in a readable form."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, float):
        return html.escape(number(value))
    return html.escape(str(value))


def number(value: float | None) -> str:
    """A number with four significant digits; a dash where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4g}"


def tag(name: str, content: Any = "", **attributes: Any) -> Raw:
    """An element; content and attributes are escaped. ``class_`` is class, ``data_x`` is data-x.

    Examples
    --------
    >>> from altmin.report.page import tag
    >>> str(tag("a", "x < y", href="#here", class_="soft"))
    '<a href="#here" class="soft">x &lt; y</a>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value), quote=True)}"'
        for key, value in attributes.items()
    )
    return Raw(f"<{name}{written}>{escape(content)}</{name}>")


def join(*parts: Any) -> Raw:
    """Parts one after the other, what isn't HTML escaped."""
    return Raw("".join(escape(part) for part in parts))


def table(rows: Sequence[dict[str, Any]]) -> Raw:
    """An HTML table; the keys of the first row are its head."""
    if not rows:
        return Raw("")
    names = list(rows[0])
    numeric = {name for name in names if all(_is_number(row.get(name)) for row in rows)}
    head = "".join(_cell("th", name, name in numeric) for name in names)
    body = "".join(
        "<tr>" + "".join(_cell("td", row.get(name, ""), name in numeric) for name in names) + "</tr>"
        for row in rows
    )
    return Raw(
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(kind: str, value: Any, numeric: bool) -> Raw:
    return tag(kind, value, class_="number") if numeric else tag(kind, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def values(measured: Mapping[str, float]) -> Raw:
    """Names and numbers in as many columns as fit."""
    rows = (join(tag("dt", key), tag("dd", number(value))) for key, value in measured.items())
    return tag("dl", join(*(tag("div", row) for row in rows)), class_="values")


def folded(summary: Any, content: Any) -> Raw:
    """Content that opens on a click."""
    return tag("details", join(tag("summary", summary), content))


def picture(png: bytes, caption: str, *, show_caption: bool = False) -> Raw:
    """A PNG inside the page, as large as it was drawn: letters of one size in all pictures."""
    data = base64.b64encode(png).decode()
    width, height = (round(side * 96 / DPI) for side in struct.unpack(">II", png[16:24]))
    image = Raw(
        f"<img alt='{html.escape(caption, quote=True)}' width='{width}' height='{height}' "
        f"src='data:image/png;base64,{data}'>"
    )
    return tag("figure", join(image, tag("figcaption", caption) if show_caption else ""))


def png_of(figure: Any) -> bytes:
    """A matplotlib figure as PNG."""
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    plt.close(figure)
    return buffer.getvalue()


def figure_style() -> Any:
    """The look of pictures on our pages, as a context; users' own plots keep theirs."""
    if not has_matplotlib():
        return nullcontext()
    import matplotlib

    return matplotlib.rc_context(FIGURE_STYLE)


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def draw_without_a_screen() -> None:
    """For commands: pictures go to files, whatever backend this machine prefers."""
    if has_matplotlib():
        import matplotlib

        matplotlib.use("Agg")


def drawn(draw: Callable[[], Any], text: str) -> Raw:
    """What the function draws as a picture; a line that says why there is none without matplotlib."""
    if not has_matplotlib():
        return tag("p", f"No picture of {text}: matplotlib is not installed.", class_="soft")
    return picture(png_of(draw()), text)


def page(title: str, *parts: Any, lead: Any = "", script: str = "") -> str:
    """The whole page.

    Parameters
    ----------
    title : str
        Title of the window and of the page.
    *parts : str or Raw
        The content; plain strings become paragraphs.
    lead : str or Raw
        A sentence or two under the title.
    script : str
        JavaScript at the end of the page.

    Returns
    -------
    str
        HTML without a single reference to another file or host.
    """
    body = "\n".join(part if isinstance(part, Raw) else tag("p", part) for part in parts)
    opening = join(
        tag("div", "altmin", class_="brand"),
        tag("h1", Raw(re.sub("(?<=[a-z])(?=[A-Z])", "<wbr>", html.escape(title)))),  # long class names
        tag("p", lead, class_="lead") if lead else "",
    )
    code = f"<script>{script}</script>" if script else ""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<link rel='icon' href='data:,'>"
        f"<title>{escape(title)} – altmin</title><style>{asset('style.css')}</style></head>"
        f"<body><header>{opening}</header>\n<main>{body}</main>\n{code}</body></html>\n"
    )
