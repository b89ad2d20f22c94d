"""How a guarantee report looks: a line of text, a table for terminals (rich), a card for notebooks."""

from __future__ import annotations

import html
from typing import Any

_MARKS = {"holds": "+", "violated": "-", "cannot be checked": "?"}
_SIGNS = {"holds": "✓", "violated": "✗", "cannot be checked": "?"}
# White letters on these are readable in light and dark notebooks alike.
_COLOURS = {"holds": "#1a7f37", "violated": "#b42318", "cannot be checked": "#656d76"}
_VERDICTS = {
    "recovered": ("#1a7f37", "✓", "The calibrated evidence says that these are the true ones."),
    "plausible": ("#8a6100", "≈", "Some evidence speaks for it, but not enough to claim it."),
    "not supported": ("#b42318", "✗", "Nothing says that these are the true ones."),
}
_STYLE = """<style>
.altmin-guarantee { font-family: system-ui, sans-serif; line-height: 1.4; max-width: 66em; }
.altmin-guarantee .altmin-verdict { border-left: .45em solid; padding: .2em 0 .2em 1em; }
.altmin-guarantee .altmin-verdict > b { font-size: 1.6em; display: block; }
.altmin-guarantee table { border-collapse: collapse; width: 100%; margin: .5em 0; font-size: .93em; }
.altmin-guarantee th, .altmin-guarantee td { text-align: left; vertical-align: top; white-space: normal;
  padding: .28em 1em .28em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
.altmin-guarantee th { padding-top: 1.1em; } .altmin-guarantee td { overflow-wrap: anywhere; }
.altmin-guarantee small { opacity: .75; }
.altmin-guarantee summary { cursor: pointer; opacity: .85; }
.altmin-guarantee .altmin-pill { display: inline-block; padding: .05em .6em; border-radius: 99px; color: #fff;
  font-size: .85em; font-weight: 600; white-space: nowrap; }
@media (min-width: 44rem) { .altmin-guarantee td:nth-child(3) small { white-space: nowrap; } }
@media (max-width: 44rem) {
  .altmin-guarantee tr { display: block; padding: .5em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
  .altmin-guarantee td, .altmin-guarantee th { display: block; padding: .1em 0; border: 0; }
  .altmin-guarantee td + td + td br { display: none; }
}
</style>"""


def number(value: float | None) -> str:
    """Three digits, or the words for none."""
    if value is None:
        return "not measured"
    if 1000 <= abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def text_lines(row: Any) -> str:
    """One row as a line of text."""
    return (
        f"[{_MARKS[row.status]}] {row.name} ({row.symbol}; {row.reference}): "
        f"{number(row.measured)}, required {row.required}: {row.status}. {row.meaning}"
    )


def rich_table(report: Any) -> Any:
    """The report for a terminal; rich calls it, so it is there."""
    from rich.table import Table
    from rich.text import Text

    title = f"{report.verdict} ({report.effort} effort{_error(report)})"
    table = Table(
        title=Text(title, style=f"bold {_VERDICTS[report.verdict][0]}"),
        caption=_caption(report),
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("", "condition", "measured", "required", "what it means"):
        table.add_column(heading)
    for row in _ordered(report):
        sign = Text(_SIGNS[row.status], style=_COLOURS[row.status])
        name = Text(row.name, style="bold" if row.decisive else "dim")
        name.append(f" ({row.symbol})", style="dim")
        table.add_row(sign, name, number(row.measured), row.required, row.meaning)
    return table


def html_page(report: Any) -> str:
    """The report as a card: the verdict, what it rests on, and the theorems' conditions folded away."""
    colour, sign, words = _VERDICTS[report.verdict]
    decisive = [row for row in report.conditions if row.decisive]
    others = [row for row in report.conditions if not row.decisive]
    about = f"{report.effort} effort{_error(report)}"
    about += f" · speaks of {report.claim}" if report.claim else ""
    advice = f"<p><b>What to do next:</b> {html.escape(report.advice)}</p>" if report.advice else ""
    return (
        f"<div class='altmin-guarantee'>{_STYLE}"
        f"<div class='altmin-verdict' style='border-color:{colour}'>"
        f"<b style='color:{colour}'>{sign} {report.verdict}</b>"
        f"{words}<br><small>{html.escape(about)}</small></div>{advice}"
        f"{_table('What the verdict rests on', decisive)}{_folded(others)}</div>"
    )


def _table(title: str, rows: list[Any]) -> str:
    head = f"<tr><th colspan='4'>{title}</th></tr>" if title else ""
    return f"<table><tbody>{head}{''.join(map(_row, rows))}</tbody></table>" if rows else ""


def _folded(rows: list[Any]) -> str:
    if not rows:
        return ""
    held, unknown = (sum(row.status == status for row in rows) for status in ("holds", "cannot be checked"))
    return (
        f"<details><summary>For information, the theorems' conditions among them: {len(rows)} rows, "
        f"{held} hold, {len(rows) - held - unknown} violated, {unknown} cannot be checked</summary>"
        f"{_table('', rows)}</details>"
    )


def _row(row: Any) -> str:
    evidence = row.reference.startswith("evidence")
    source = html.escape(row.symbol if evidence else f"{row.symbol}, {row.reference}")
    required = html.escape(row.required.replace("<=", "≤").replace(">=", "≥"))
    cells = (
        f"<span class='altmin-pill' style='background:{_COLOURS[row.status]}'>{row.status}</span>",
        f"{html.escape(row.name)}<br><small>{source}</small>",
        f"{number(row.measured)} <br><small>required {required}</small>",
        html.escape(row.meaning),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _ordered(report: Any) -> list[Any]:
    return sorted(report.conditions, key=lambda row: not row.decisive)


def _error(report: Any) -> str:
    if report.estimated_error is None:
        return ""
    return f", estimated error {number(report.estimated_error)}"


def _caption(report: Any) -> str:
    return f"next: {report.advice}" if report.advice else f"speaks of {report.claim}"
