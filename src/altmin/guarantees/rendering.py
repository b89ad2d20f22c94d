"""How a guarantee report looks: a line of text, a table for terminals (rich), a card for notebooks."""

from __future__ import annotations

import html
import textwrap
from typing import Any

_MARKS = {"holds": "+", "violated": "-", "cannot be checked": "?"}
_SIGNS = {"holds": "✓", "violated": "✗", "cannot be checked": "?"}
# White letters on these are readable in light and dark notebooks alike.
_COLOURS = {"holds": "#1a7f37", "violated": "#b42318", "cannot be checked": "#656d76"}
_VERDICTS = {
    "recovered": (
        "#1a7f37",
        "✓",
        "The truth up to the printed error, if the printed assumptions hold.",
    ),
    "plausible": ("#8a6100", "≈", "It fits, but the data can't rule out the alternative named below."),
    "unknown": ("#656d76", "?", "The data can't decide; the rows below say what is missing."),
    "contradicted": ("#b42318", "✗", "The data contradict it; the rows below say which test failed."),
}
_CLAIMED = {  # nobody should take for claimed what the verdict doesn't bear out
    "recovered": "The claim",
    "plausible": "The claim, if the alternative below is ruled out",
    "unknown": "Not claimed, as the data can't decide",
    "contradicted": "Not claimed, as the data contradict it",
}
_WIDTH = 79
_STYLE = """<style>
.altmin-guarantee { font-family: system-ui, sans-serif; line-height: 1.4; max-width: 66em; }
.altmin-guarantee .altmin-verdict { border-left: .45em solid; padding: .2em 0 .2em 1em; }
.altmin-guarantee .altmin-verdict > b { font-size: 1.6em; display: block; }
.altmin-guarantee table { border-collapse: collapse; width: 100%; margin: .5em 0; font-size: .93em; }
.altmin-guarantee th, .altmin-guarantee td { text-align: left; vertical-align: top; white-space: normal;
  padding: .28em 1em .28em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
.altmin-guarantee th { padding-top: 1.1em; overflow-wrap: normal; }
.altmin-guarantee td { overflow-wrap: anywhere; }
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
    if value is None or value != value:
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


def text_page(report: Any) -> str:
    """The report for a terminal of 80 columns: the claim, the factors, what decides, what to do."""
    lines = [f"guarantee: {report.verdict} ({report.effort} effort{_error(report)})"]
    lines += [part for text in _claimed(report) for part in _wrapped(text, "  ")]
    if report.factors:
        lines.append(f"{'factor':>8}  {'verdict':<13}{'error':>9}{'at most':>9}{'samples':>9}")
        lines += [_factor_line(factor) for factor in report.factors]
        lines += [part for text in _against(report.factors) for part in _wrapped(text, "  ", "    ")]
    for row in _deciding(report):
        found = f"{row.name}: {number(row.measured)}, required {row.required} ({row.status})"
        lines += _wrapped(found, f"  [{_MARKS[row.status]}] ", "      ")
        if row.status != "holds":
            lines += _wrapped(row.meaning, "      ")
    lines += _wrapped(_others(report), "  ")
    return "\n".join(lines + _wrapped(f"next: {report.advice}" if report.advice else "", "  "))


def rich_table(report: Any) -> Any:
    """The report for a terminal; rich calls it, so it is there."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    colour, sign, words = _verdict(report)
    head = Text(f"{sign} {report.verdict} ({report.effort} effort{_error(report)})", style=f"bold {colour}")
    parts: list[Any] = [head, Text(words), *(Text(text, style="dim") for text in _claimed(report))]
    if report.factors:
        parts.append(_rich_factors(report.factors, Table, Text))
    table = Table(box=None, pad_edge=False)
    for heading in ("", "what decides", "measured", "required"):
        table.add_column(heading)
    for row in _deciding(report):
        name = Text(row.name, style="bold")
        if row.status != "holds":
            name.append(f"\n{row.meaning}", style="not bold")
        mark = Text(_SIGNS[row.status], style=_COLOURS[row.status])
        table.add_row(mark, name, number(row.measured), row.required)
    parts.append(table)
    parts += [Text(text, style="dim") for text in (_others(report),) if text]
    if report.advice:
        parts.append(Text(f"next: {report.advice}"))
    return Group(*parts)


def _rich_factors(factors: Any, table: Any, text: Any) -> Any:
    found = table(box=None, pad_edge=False)
    for heading in ("factor", "verdict", "error", "at most", "samples", "against"):
        found.add_column(heading)
    for factor in factors:
        colour = _VERDICTS[factor.verdict][0]
        numbers = (number(factor.error), number(factor.bound), str(factor.samples))
        found.add_row(str(factor.number), text(factor.verdict, style=colour), *numbers, factor.against)
    return found


def html_page(report: Any) -> str:
    """The report as a card: claim, factors, what the verdict rests on, and the theorems' rows folded away."""
    colour, sign, words = _verdict(report)
    decisive = _deciding(report)
    others = [row for row in report.conditions if not row.decisive]
    about = f"{report.effort} effort{_error(report)}"
    claim = "".join(f"<p>{html.escape(text)}</p>" for text in _claimed(report))
    advice = f"<p><b>What to do next:</b> {html.escape(report.advice)}</p>" if report.advice else ""
    return (
        f"<div class='altmin-guarantee'>{_STYLE}"
        f"<div class='altmin-verdict' style='border-color:{colour}'>"
        f"<b style='color:{colour}'>{sign} {html.escape(report.verdict)}</b>"
        f"{words}<br><small>{html.escape(about)}</small></div>{claim}{advice}{_html_factors(report)}"
        f"{_table('What the verdict rests on', decisive)}{_folded(others)}</div>"
    )


def _html_factors(report: Any) -> str:
    if not report.factors:
        return ""
    heads = ("Factor", "Verdict", "Error", "At most (90 %)", "Samples", "What stands against it")
    rows = []
    for factor in report.factors:
        pill = f"<span class='altmin-pill' style='background:{_VERDICTS[factor.verdict][0]}'>"
        cells = (
            str(factor.number),
            f"{pill}{factor.verdict}</span>",
            number(factor.error),
            number(factor.bound),
            str(factor.samples),
            html.escape(factor.against),
        )
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "<tr>" + "".join(f"<th>{name}</th>" for name in heads) + "</tr>"
    body = f"<table><tbody>{head}{''.join(rows)}</tbody></table>"
    if len(rows) <= 20:
        return body
    return f"<details open><summary>{len(rows)} factors</summary>{body}</details>"


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


def _deciding(report: Any) -> list[Any]:
    """The rows that the verdict rests on: what stands against it first."""
    return sorted(report.decisive, key=lambda row: row.status == "holds")


def _others(report: Any) -> str:
    """How many rows don't decide, and how to see them."""
    rows = [row for row in report.conditions if not row.decisive]
    if not rows:
        return ""
    counts = {status: sum(row.status == status for row in rows) for status in _MARKS}
    found = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    return (
        f"{len(rows)} more rows are for information, the theorems' conditions among them ({found}); "
        "list(report) holds them all."
    )


def _against(factors: Any) -> list[str]:
    """What stands against which factors."""
    numbers: dict[str, list[int]] = {}
    for factor in factors:
        if factor.against:
            numbers.setdefault(factor.against, []).append(factor.number)
    return [f"against {_some(which)}: {words}" for words, which in numbers.items()]


def _some(numbers: list[int]) -> str:
    """Numbers in a row, the first eight of them."""
    return ", ".join(map(str, numbers[:8])) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")


def _error(report: Any) -> str:
    if report.estimated_error is None:
        return ""
    return f", estimated error {number(report.estimated_error)}"


def _verdict(report: Any) -> tuple[str, str, str]:
    return _VERDICTS.get(report.verdict, _VERDICTS["unknown"])  # files of version 0.1 have other words


def _claimed(report: Any) -> list[str]:
    """What the report is about, said as far as the verdict bears it out, and what it assumes."""
    words = _CLAIMED.get(report.verdict, _CLAIMED["unknown"])
    claim = [f"{words}: {report.claim}"] if report.claim else []
    return claim + [f"It assumes: {text}" for text in report.assumptions]


def _factor_line(factor: Any) -> str:
    known = [
        "-" if value is None or value != value else number(value) for value in (factor.error, factor.bound)
    ]
    return f"{factor.number:>8}  {factor.verdict:<13}{known[0]:>9}{known[1]:>9}{factor.samples:>9}"


def _wrapped(text: str, first: str, later: str | None = None) -> list[str]:
    indent = first if later is None else later
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=indent)
