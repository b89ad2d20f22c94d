"""A self-contained HTML page: text, tables and pictures in one file that asks no host for anything."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Sequence
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #ffffff; --line: #d1d9e0;
  --good: #1a7f37; --part: #8a6d00; --bad: #b42318; --card: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117;
  --line: #3d444d; --good: #4ac26b; --part: #d4a72c; --bad: #ff7b72; --card: #151b23; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem; }
h1 { line-height: 1.2; margin: .2em 0; } h2 { margin-top: 2.2em; } h3 { margin: 0 0 .3em; }
.soft { color: var(--soft); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .93em; }
th, td { text-align: left; padding: .35em .8em .35em 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
article { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.2rem; margin: 1rem 0;
  background: var(--card); }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
code, pre { font: .88em ui-monospace, monospace; } pre { overflow-x: auto; white-space: pre-wrap; }
.verdict { font-weight: 600; } .good { color: var(--good); } .part { color: var(--part); }
.bad { color: var(--bad); } .none { color: var(--soft); }
.filters { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
  border-radius: 6px; padding: .25em .5em; max-width: 100%; }
[hidden] { display: none !important; }
"""


class Raw(str):
    """Text that is HTML already; everything else is escaped."""

    __slots__ = ()


def escape(value: Any) -> str:
    """HTML of any value: escaped, unless it is :class:`Raw`; numbers in a readable form."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, float):
        return html.escape(number(value))
    return html.escape(str(value))


def number(value: float | None) -> str:
    """A number with four significant digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4g}"


def table(rows: Sequence[dict[str, Any]]) -> Raw:
    """An HTML table; the keys of the first row are its head."""
    if not rows:
        return Raw("")
    names = list(rows[0])
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(_cell(row.get(name, "")) for name in names) + "</tr>" for row in rows)
    return Raw(
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    kind = " class='number'" if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{kind}>{escape(value)}</td>"


def picture(png: bytes, caption: str) -> Raw:
    """A PNG inside the page."""
    data = base64.b64encode(png).decode()
    return Raw(f"<img alt='{html.escape(caption, quote=True)}' src='data:image/png;base64,{data}'>")


def png_of(figure: Any) -> bytes:
    """A matplotlib figure as PNG, crisp on dense screens."""
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    plt.close(figure)
    return buffer.getvalue()


def page(title: str, *parts: Any, script: str = "") -> str:
    """The whole page.

    Parameters
    ----------
    title : str
        Of the window and the page.
    *parts : str or Raw
        The content; plain strings become paragraphs.
    script : str
        JavaScript at the end of the page.

    Returns
    -------
    str
        HTML without a single reference to another file or host.
    """
    body = "\n".join(part if isinstance(part, Raw) else f"<p>{escape(part)}</p>" for part in parts)
    code = f"<script>{script}</script>" if script else ""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<link rel='icon' href='data:,'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>\n{body}\n{code}</body></html>\n"
    )
