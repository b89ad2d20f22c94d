"""The claims ledger as a page: a table on top, filters, and a card a claim."""

from __future__ import annotations

import html
import json
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from altmin.report.page import Raw, escape, number, page, picture, table

_CLASSES = {"holds": "good", "holds partly": "part", "does not hold": "bad", "cannot be run here": "none"}

_FILTER = """
const pick = document.querySelectorAll('select');
function apply() {
  const [paper, verdict] = [...pick].map(s => s.value);
  document.querySelectorAll('[data-paper]').forEach(e => {
    e.hidden = (paper && e.dataset.paper !== paper) || (verdict && e.dataset.verdict !== verdict);
  });
}
pick.forEach(s => s.addEventListener('change', apply));
"""


def write_ledger(findings: Sequence[Any], out: Path, results: Path, *, quick: bool) -> Path:
    """Write ``report.html`` and ``report.json``.

    Parameters
    ----------
    findings : sequence of Finding
        The judged claims.
    out : Path
        Where to.
    results : Path
        Where the pictures are.
    quick : bool
        Whether the runs were small ones: the page says so.

    Returns
    -------
    Path
        The page.
    """
    (out / "report.json").write_text(json.dumps([vars(finding) for finding in findings], indent=1))
    counts = Counter(finding.verdict for finding in findings)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _CLASSES if counts[verdict])
    size = "small runs (--quick)" if quick else "the papers' sizes, or as near as said"
    text = page(
        "altmin: the claims of the papers, judged",
        Raw(
            f"<p>{len(findings)} claims: <b>{escape(summary)}</b>. <span class='soft'>{escape(size)}; "
            f"Python {platform.python_version()}. Verdicts are computed from the measurements.</span></p>"
        ),
        _filters(findings),
        _summary(findings),
        *(_card(finding, results) for finding in findings),
        script=_FILTER,
    )
    target = out / "report.html"
    target.write_text(text, encoding="utf-8")
    return target


def _filters(findings: Sequence[Any]) -> Raw:
    papers = sorted({finding.paper for finding in findings})
    return Raw(
        "<div class='filters'>"
        + _select("paper", papers)
        + _select("verdict", [verdict for verdict in _CLASSES if any(f.verdict == verdict for f in findings)])
        + "</div>"
    )


def _select(name: str, values: Sequence[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in values)
    return f"<select aria-label='{name}'><option value=''>every {name}</option>{options}</select>"


def _attributes(finding: Any) -> str:
    paper, verdict = (html.escape(value, quote=True) for value in (finding.paper, finding.verdict))
    return f"data-paper='{paper}' data-verdict='{verdict}'"


def _verdict(finding: Any) -> str:
    return f"<span class='verdict {_CLASSES[finding.verdict]}'>{escape(finding.verdict)}</span>"


def _summary(findings: Sequence[Any]) -> Raw:
    rows = "".join(
        f"<tr {_attributes(f)}><td>{escape(f.paper)}</td>"
        f"<td><a href='#{escape(f.name)}'>{escape(f.where)}</a></td>"
        f"<td>{escape(f.says)}</td><td>{_verdict(f)}</td></tr>"
        for f in findings
    )
    head = "<tr><th>paper</th><th>where</th><th>says</th><th>verdict</th></tr>"
    return Raw(f"<div class='scroll'><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>")


def _card(finding: Any, results: Path) -> Raw:
    pictures = "".join(
        picture((results / file).read_bytes(), f"{finding.where}: {name}")
        for name, file in finding.figures.items()
    )
    tables = "".join(f"<h4>{escape(title)}</h4>{table(rows)}" for title, rows in finding.tables.items())
    measured = ", ".join(f"{escape(key)} {number(value)}" for key, value in finding.measured.items())
    return Raw(
        f"<article id='{escape(finding.name)}' {_attributes(finding)}>"
        f"<h3>{escape(finding.where)} <span class='soft'>({escape(finding.paper)})</span> "
        f"{_verdict(finding)}</h3><p><b>The paper says:</b> {escape(finding.says)}</p>"
        f"<p><b>We found:</b> {escape(finding.summary)}</p>"
        f"<p class='soft'>{escape(finding.setting)}</p>"
        + (f"<p class='soft'>{measured}</p>" if measured else "")
        + f"{tables}{pictures}"
        f"<pre>altmin reproduce --only {escape(finding.name)}   # {finding.seconds:.0f} s</pre></article>"
    )
