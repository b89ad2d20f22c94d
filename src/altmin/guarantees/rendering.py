"""How a guarantee report looks: text for terminals of 80 columns (coloured by rich), a card for notebooks.

All say the same in the same order: the verdict, what is claimed and assumed, what to do next, the factors,
and what stands against them. What holds is counted, and is there for those who ask.
"""

from __future__ import annotations

import html
import math
import textwrap
from typing import Any

_MARKS = {"holds": "+", "violated": "-", "cannot be checked": "?"}
_STATUS = {"holds": "holds", "violated": "fails", "cannot be checked": "not checked"}
# White letters on these are readable in light and dark notebooks alike.
_VERDICTS = {
    "recovered": ("#1a7f37", "✓", "It is the truth up to the printed error, if what is assumed holds."),
    "plausible": ("#8a6100", "≈", "It fits, but something else may be true: what that is stands below."),
    "unknown": ("#656d76", "?", "The data can't decide; what is missing stands below."),
    "contradicted": ("#b42318", "✗", "The data contradict it; the test that failed stands below."),
}
_CLAIMED = {  # nobody should take for claimed what the verdict doesn't bear out
    "recovered": "Claimed",
    "plausible": "Claimed only if that is ruled out",
    "unknown": "Not claimed",
    "contradicted": "Not claimed",
}
_WHY = {
    "plausible": "Why it is only plausible",
    "unknown": "Why it is unknown",
    "contradicted": "What contradicts it",
}
_NOT_MEASURED = "What would decide it wasn't measured."
_BORNE_OUT = ("recovered", "plausible")  # of others an estimated error would only say: if it were right
_UNITS = (
    "error: estimated angle to the true factor, in radians; at most: what it stays below nine times in ten."
)
_BY_THEMSELVES = "Recovered factors are claimed by themselves, whatever stands against the whole."
_WIDTH = 79
_MOST_ROWS = 5  # that are explained in a terminal
_MOST_FACTORS, _WORST = 20, 10  # shown one by one, or else of them
_STYLE = """<style>
.altmin-guarantee { font-family: system-ui, sans-serif; line-height: 1.4; max-width: 66em; }
.altmin-guarantee .altmin-verdict { border-left: .45em solid; padding: .2em 0 .2em 1em; }
.altmin-guarantee .altmin-verdict > b { font-size: 1.6em; display: block; }
.altmin-guarantee table { border-collapse: collapse; width: 100%; margin: .5em 0; font-size: .93em; }
.altmin-guarantee th, .altmin-guarantee td { text-align: left; vertical-align: top; white-space: normal;
  padding: .28em 1em .28em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
.altmin-guarantee :is(td, th) { overflow-wrap: normal; }
.altmin-guarantee td:last-child { overflow-wrap: anywhere; }
.altmin-guarantee p, .altmin-guarantee ul { margin: .5em 0; }
.altmin-guarantee small { opacity: .75; }
.altmin-guarantee summary { cursor: pointer; opacity: .85; }
.altmin-guarantee .altmin-pill { display: inline-block; padding: .05em .6em; border-radius: 99px; color: #fff;
  font-size: .85em; font-weight: 600; white-space: nowrap; }
@media (min-width: 44rem) { .altmin-guarantee td:nth-child(3) small { white-space: nowrap; } }
@media (max-width: 44rem) {
  .altmin-guarantee .altmin-tests tr { display: block; padding: .5em 0;
    border-bottom: 1px solid rgb(128 128 128 / 30%); }
  .altmin-guarantee .altmin-tests td { display: block; padding: .1em 0; border: 0; }
  .altmin-guarantee .altmin-tests td + td + td br { display: none; }
  .altmin-guarantee .altmin-factors tr { display: grid; grid-template-columns: 4em 7em 1fr 1fr 4.7em;
    border-bottom: 1px solid rgb(128 128 128 / 30%); }
  .altmin-guarantee .altmin-factors :is(td, th) { border: 0; padding-right: .4em; font-size: .9em; }
  .altmin-guarantee .altmin-factors td:nth-child(6) { grid-column: 1 / -1; }
  .altmin-guarantee .altmin-factors :is(th:nth-child(6), td:empty) { display: none; }
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
    """The report for a terminal of 80 columns, in four parts."""
    head = [f"guarantee: {report.verdict} ({_about(report)})"]
    for text in (_verdict(report)[2], *_claimed(report)):
        head += _wrapped(text, "  ")
    steps = _listed("What to do next:", _steps(report))
    reasons = [*_reason_lines(report), *_wrapped(_others(report), "  ")]
    parts = (head, steps, _factor_lines(report), reasons)
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def rich_text(report: Any) -> Any:
    """The same with colours; rich calls it, so it is there."""
    from rich.text import Text

    colour, sign, _ = _verdict(report)
    head, *lines = text_page(report).split("\n")
    text = Text.assemble((f"{sign} {head}", f"bold {colour}"), "\n", "\n".join(lines))
    for verdict, (colour, *_) in _VERDICTS.items():
        text.highlight_regex(rf"(?<=\d  ){verdict}(?= +[-\d])", colour)
    return text


def html_page(report: Any) -> str:
    """The report as a card; what holds, and the theorems' conditions, are folded away."""
    colour, sign, words = _verdict(report)
    holding = [row for row in report.decisive if row.status == "holds"]
    others = [row for row in report.conditions if not row.decisive]
    decide, unmet = _split(report)
    folded = _folded("Also not met", unmet) + _folded("Tests that hold", holding)
    folded += _folded("Rows for information, such as theorems' conditions", others)
    claim = "".join(f"<p>{html.escape(text)}</p>" for text in _claimed(report))
    steps = "".join(f"<li>{html.escape(step)}</li>" for step in _steps(report))
    advice = f"<p><b>What to do next</b></p><ul>{steps}</ul>" if steps else ""
    return (
        f"<div class='altmin-guarantee'>{_STYLE}"
        f"<div class='altmin-verdict' style='border-color:{colour}'>"
        f"<b style='color:{colour}'>{sign} {html.escape(report.verdict)}</b>"
        f"{words}<br><small>{html.escape(_about(report))}</small></div>{claim}{advice}"
        f"{_html_factors(report)}"
        f"{_table(_why(report), decide)}{folded}</div>"
    )


def _html_factors(report: Any) -> str:
    factors = report.factors
    if not factors:
        return ""
    shown, more = _shown(factors)
    notes = "".join(f"<br><small>{note}</small>" for note in _notes(report, shown))
    body = f"<p><b>{html.escape(_summary(factors))}</b>{notes}</p>{_html_rows(shown)}"
    if more:
        body += (
            f"<details><summary>All {len(factors)} of them, in order</summary>{_html_rows(factors)}</details>"
        )
    return body


def _html_rows(factors: Any) -> str:
    heads = ["Factor", "Verdict", "Error", "At most", "Samples"]
    doubtful = any(factor.against for factor in factors)
    rows = []
    for factor in factors:
        pill = f"<span class='altmin-pill' style='background:{_VERDICTS[factor.verdict][0]}'>"
        verdict = f"{pill}{factor.verdict}</span>"
        cells = [str(factor.number), verdict, *_numbers(factor), str(factor.samples)]
        cells += [html.escape(factor.against)] * doubtful
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in heads + ["What stands against it"] * doubtful)
    return f"<table class='altmin-factors'><tbody><tr>{head}</tr>{''.join(rows)}</tbody></table>"


def _table(title: str, rows: list[Any]) -> str:
    head = f"<p><b>{title}</b></p>" if title else ""
    body = "".join(map(_row, rows))
    return head + (f"<table class='altmin-tests'><tbody>{body}</tbody></table>" if rows else "")


def _folded(title: str, rows: list[Any]) -> str:
    if not rows:
        return ""
    return f"<details><summary>{title}: {len(rows)}</summary>{_table('', rows)}</details>"


def _row(row: Any) -> str:
    of_theorem = not row.reference.startswith("evidence")
    source = f"<br><small>{html.escape(f'{row.symbol}, {row.reference}')}</small>" if of_theorem else ""
    required = html.escape(row.required.replace("<=", "≤").replace(">=", "≥"))
    cells = (
        f"<span class='altmin-pill' style='background:{_colour(row)}'>{_STATUS[row.status]}</span>",
        html.escape(row.name) + source,
        f"{number(row.measured)} <br><small>required {required}</small>",
        html.escape(row.meaning),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _about(report: Any) -> str:
    """Effort, and the largest error where the verdict bears one out."""
    if report.estimated_error is None or report.verdict not in _BORNE_OUT:
        return f"{report.effort} effort"
    kind = "largest estimated error" if report.factors else "estimated relative error"
    return f"{report.effort} effort, {kind} {number(report.estimated_error)}"


def _verdict(report: Any) -> tuple[str, str, str]:
    return _VERDICTS.get(report.verdict, _VERDICTS["unknown"])  # files of version 0.1 have other words


def _claimed(report: Any) -> list[str]:
    """What the report is about, said as far as the verdict bears it out, and what it assumes."""
    words = _CLAIMED.get(report.verdict, _CLAIMED["unknown"])
    claim = [f"{words}: {report.claim}"] if report.claim else []
    return claim + [f"Assumed: {text}" for text in report.assumptions]


def _steps(report: Any) -> list[str]:
    """What to do next, one thing each."""
    return [step for step in report.advice.split("; ") if step]


def _summary(factors: Any) -> str:
    """How many of each verdict."""
    found = [factor.verdict for factor in factors]
    if len(set(found)) == 1:
        return f"{_counted(len(factors), 'factor')}, {'all ' if len(factors) > 1 else ''}{found[0]}"
    counts = [f"{found.count(verdict)} {verdict}" for verdict in _VERDICTS if verdict in found]
    return f"{len(factors)} factors: {', '.join(counts)}"


def _shown(factors: Any) -> tuple[list[Any], bool]:
    """All of them in the order of the components, or the worst of many; whether there are more."""
    if len(factors) <= _MOST_FACTORS:
        return list(factors), False
    worst = list(_VERDICTS)[::-1]
    return sorted(factors, key=lambda factor: (worst.index(factor.verdict), -_size(factor.bound)))[
        :_WORST
    ], True


def _size(value: float | None) -> float:
    return -math.inf if value is None or value != value else value


def _numbers(factor: Any) -> list[str]:
    """Error and bound, where the verdict bears them out and they are known."""
    said = factor.verdict in _BORNE_OUT
    return [
        number(value) if said and value is not None and value == value else "-"
        for value in (factor.error, factor.bound)
    ]


def _notes(report: Any, shown: list[Any]) -> list[str]:
    """What the numbers mean, and what is claimed where the whole isn't."""
    errors = any(_numbers(factor)[0] != "-" for factor in shown)
    alone = report.verdict != "recovered" and any(factor.verdict == "recovered" for factor in report.factors)
    return [_UNITS] * errors + [_BY_THEMSELVES] * alone


def _factor_lines(report: Any) -> list[str]:
    factors = report.factors
    if not factors:
        return []
    shown, more = _shown(factors)
    lines = [f"  {_summary(factors)}{'; the worst of them:' if more else ''}"]
    lines.append(f"{'factor':>8}  {'verdict':<13}{'error':>9}{'at most':>9}{'samples':>9}")
    for factor in shown:
        error, bound = _numbers(factor)
        lines.append(f"{factor.number:>8}  {factor.verdict:<13}{error:>9}{bound:>9}{factor.samples:>9}")
    if more:
        lines += _wrapped(
            f"{len(factors) - len(shown)} more: pandas.DataFrame(report.factors) has all.", "  "
        )
    for note in _notes(report, shown):
        lines += _wrapped(note, "  ")
    return lines + [part for text in _against(factors) for part in _wrapped(text, "  ", "    ")]


def _against(factors: Any) -> list[str]:
    """What stands against which factors."""
    numbers: dict[str, list[int]] = {}
    for factor in factors:
        if factor.against:
            numbers.setdefault(factor.against, []).append(factor.number)
    return [
        f"against {'all' if len(which) == len(factors) > 1 else _some(which)}: {words}"
        for words, which in numbers.items()
    ]


def _some(numbers: list[int]) -> str:
    """Numbers in a row, the first eight of them."""
    return ", ".join(map(str, numbers[:8])) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")


def _split(report: Any) -> tuple[list[Any], list[Any]]:
    """What stands against the fit: what makes the verdict, and what would leave another, the worst first."""
    rows = [row for row in report.decisive if row.status != "holds"]
    others = [row for row in rows if row.leaves != report.verdict]
    others.sort(key=lambda row: list(_VERDICTS).index(row.leaves), reverse=True)
    return [row for row in rows if row.leaves == report.verdict], others


def _why(report: Any) -> str:
    """A heading for what makes the verdict."""
    decide, _ = _split(report)
    if not decide and report.verdict == "unknown":
        return _NOT_MEASURED
    return _WHY.get(report.verdict, "") if decide else ""


def _reason_lines(report: Any) -> list[str]:
    """What makes the verdict, explained, and what else isn't met, by name."""
    decide, others = _split(report)
    lines = _wrapped(f"{_why(report)}:" if decide else _why(report), "  ")
    for row in decide[:_MOST_ROWS]:
        wanted = row.required.replace("<=", "at most").replace(">=", "at least")
        bounded = row.at_most is not None or row.at_least is not None
        found = number(row.measured) + (f"; must be {wanted}" if bounded else "")
        lines += _wrapped(f"{_STATUS[row.status]}: {row.name} ({found})", "  - ", "    ")
        lines += _wrapped(row.meaning, "    ")
    named = "; ".join(row.name for row in (*decide[_MOST_ROWS:], *others))
    return lines + _wrapped(f"Also not met: {named}." if named else "", "  ")


def _others(report: Any) -> str:
    """How many tests hold, and where all rows are."""
    tests = report.decisive
    held, more = sum(row.status == "holds" for row in tests), len(report.conditions) - len(tests)
    kept = f"All {len(tests)} tests hold" if held == len(tests) else f"{held} of {len(tests)} tests hold"
    said = [f"{kept}: report.decisive has their numbers."] if tests else []
    if more:
        rows = _counted(more, "row")
        said.append(f"list(report) also has {rows} for information, such as theorems' conditions.")
    return " ".join(said)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _colour(row: Any) -> str:
    return _VERDICTS[row.leaves][0]


def _listed(title: str, entries: list[str]) -> list[str]:
    lines = [f"  {title}"] if entries else []
    return lines + [part for entry in entries for part in _wrapped(entry, "  - ", "    ")]


def _wrapped(text: str, first: str, later: str | None = None) -> list[str]:
    indent = first if later is None else later
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=indent)
