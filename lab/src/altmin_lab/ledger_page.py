"""The claims ledger as a page: verdicts in numbers, filters, one line per claim, then one card per claim."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from altmin import __version__
from altmin.report.page import Raw, escape, folded, join, page, picture, table, tag, values

CLASSES = {
    "holds": "good",
    "holds partly": "part",
    "does not hold": "bad",
    "vacuous at these sizes": "none",
    "cannot be run here": "none",
}
PAPERS = {
    "and-nmf": (
        "Li and Liang 2017",
        "Provable alternating gradient descent for non-negative matrix factorization with strong "
        "correlations",
    ),
    "complete-dictionary-learning": (
        "Liang, Zhang, Fattahi and Zhang 2022",
        "Simple alternating minimization provably solves complete dictionary learning",
    ),
    "one-pass-gfm": (
        "Lin and Ye 2016",
        "A non-convex one-pass framework for generalized factorization machine and rank-one matrix sensing",
    ),
    "approximate-dictionary-learning": (
        "Bhaskara and Tai 2019",
        "Approximate guarantees for dictionary learning",
    ),
    "beyond": ("Beyond the papers", "what altmin adds, on real data and against other libraries"),
}
_SHORT_TABLE = 8


def write_ledger(findings: Sequence[Any], out: Path, results: Path, *, quick: bool) -> Path:
    """Write ``report.html``, ``report.json`` and the pictures, as ``figures/*.png``.

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
    pictures = out / "figures"
    pictures.mkdir(exist_ok=True)
    for finding in findings:
        for name, file in finding.figures.items():
            target = pictures / f"{finding.name}-{name}.png".replace(" ", "-").replace(",", "")
            target.write_bytes((results / file).read_bytes())
    (out / "report.json").write_text(json.dumps([vars(finding) for finding in findings], indent=1))
    target = out / "report.html"
    target.write_text(ledger_page(findings, results, quick=quick), encoding="utf-8")
    return target


def ledger_page(findings: Sequence[Any], results: Path, *, quick: bool) -> str:
    """HTML of the ledger, as :func:`write_ledger` writes it."""
    order = [*PAPERS, *sorted({f.paper for f in findings} - set(PAPERS))]
    sorted_findings = sorted(findings, key=lambda finding: order.index(finding.paper))
    papers = [(paper, list(group)) for paper, group in groupby(sorted_findings, key=lambda f: f.paper)]
    size = (
        "Small runs of the same experiments (--quick)." if quick else "The papers' sizes, or as near as said."
    )
    lead = (
        "Every theorem, figure and table of four papers as a claim: what the paper says, what was run, what "
        "was measured. The verdicts are computed from the measurements, never typed in, and for each of them "
        "a wrong program is known that changes it. A sentence is judged as it is printed, on data that meet "
        "its hypotheses; where it fails as printed and holds once a misprint is mended, it holds partly. "
        f"{size}"
    )
    return page(
        "The claims of the papers, judged",
        _tiles(findings),
        _filters([paper for paper, _ in papers], findings),
        *(_overview(paper, group) for paper, group in papers),
        *(_cards(paper, group, results, quick) for paper, group in papers),
        _foot(findings),
        lead=lead,
        script=(files("altmin_lab") / "ledger.js").read_text(encoding="utf-8"),
    )


def _tiles(findings: Sequence[Any]) -> Raw:
    """How many claims have each verdict: a bar and buttons that filter."""
    counts = Counter(finding.verdict for finding in findings)
    bar = (
        tag("i", class_=kind, style=f"flex:{counts[verdict]}")
        for verdict, kind in CLASSES.items()
        if counts[verdict]
    )
    tiles = (
        tag(
            "button",
            join(tag("b", counts[verdict]), tag("span", verdict)),
            class_=f"tile {kind}",
            type="button",
            value=verdict,
            aria_pressed="false",
        )
        for verdict, kind in CLASSES.items()
    )
    return join(
        tag("div", join(*tiles), class_="tiles"), tag("div", join(*bar), class_="bar", aria_hidden="true")
    )


def _filters(papers: Sequence[str], findings: Sequence[Any]) -> Raw:
    verdicts = [verdict for verdict in CLASSES if any(f.verdict == verdict for f in findings)]
    return tag(
        "div",
        join(
            _select("paper", [(paper, _paper(paper)[0]) for paper in papers]),
            _select("verdict", [(verdict, verdict) for verdict in verdicts]),
            Raw("<input type='search' id='search' placeholder='find words' aria-label='find words'>"),
            Raw("<output id='shown'></output>"),
        ),
        class_="filters",
    )


def _select(name: str, choices: Iterable[tuple[str, str]]) -> Raw:
    options = (tag("option", text, value=value) for value, text in choices)
    return tag("select", join(tag("option", f"every {name}", value=""), *options), id=name, aria_label=name)


def _paper(name: str) -> tuple[str, str]:
    return PAPERS.get(name, (name, ""))


def _attributes(finding: Any) -> dict[str, str]:
    """What the filters look at."""
    words = f"{finding.name} {finding.where} {finding.says} {finding.summary}"
    return {"data_paper": finding.paper, "data_verdict": finding.verdict, "data_text": words.lower()}


def _pill(finding: Any) -> Raw:
    return tag("span", finding.verdict, class_=f"verdict {CLASSES[finding.verdict]}")


def _overview(paper: str, findings: Sequence[Any]) -> Raw:
    author, title = _paper(paper)
    lines = (
        tag(
            "li",
            join(
                tag("span", _pill(f)), tag("a", f.where, href=f"#{f.name}"), tag("p", f.says, class_="soft")
            ),
            **_attributes(f),
        )
        for f in findings
    )
    head = join(tag("h3", author), tag("p", title, class_="soft small"))
    return tag("section", join(head, tag("ul", join(*lines), class_="claims")), data_group=paper)


def _cards(paper: str, findings: Sequence[Any], results: Path, quick: bool) -> Raw:
    cards = (_card(finding, results, quick) for finding in findings)
    return tag("section", join(tag("h2", _paper(paper)[0]), *cards), data_group=paper)


def _card(finding: Any, results: Path, quick: bool) -> Raw:
    pictures = (
        picture((results / file).read_bytes(), f"{finding.where}: {name}")
        for name, file in finding.figures.items()
    )
    command = f"altmin-lab reproduce {'--quick ' if quick else ''}--only {finding.name}"
    parts = join(
        tag("header", join(tag("h3", finding.where), _pill(finding))),
        tag("blockquote", finding.sentence or finding.says),
        tag("p", f"In short: {finding.says}", class_="soft") if finding.sentence else "",
        tag("p", finding.summary[:1].upper() + finding.summary[1:]),
        tag("p", finding.setting, class_="soft small") if finding.setting else "",
        *pictures,
        _hypotheses(finding.hypotheses) if finding.hypotheses else "",
        folded("measured", values(finding.measured)) if finding.measured else "",
        *(_table(title, rows) for title, rows in finding.tables.items()),
        tag("p", f"A wrong program that this experiment turns down: {finding.wrong}.", class_="soft small")
        if finding.wrong
        else "",
        Raw(f"<pre>{escape(command)}   # {finding.cpu or finding.seconds:.0f} s of CPU</pre>"),
    )
    return tag("article", parts, id=finding.name, **_attributes(finding))


def _hypotheses(checks: dict[str, dict[str, Any]]) -> Raw:
    rows = [
        {"the paper assumes": name, "met here": "yes" if check["met"] else "no", "found": check["found"]}
        for name, check in checks.items()
    ]
    return join(tag("h4", "Hypotheses"), table(rows))


def _table(title: str, rows: list[dict[str, Any]]) -> Raw:
    """A table, folded where it is long."""
    if len(rows) > _SHORT_TABLE:
        return folded(f"{title} ({len(rows)} rows)", table(rows))
    return join(tag("h4", title), table(rows))


def _foot(findings: Sequence[Any]) -> Raw:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    minutes = sum(finding.cpu for finding in findings) / 60
    return tag(
        "footer",
        f"{len(findings)} claims, {minutes:.1f} minutes of CPU. altmin {__version__}, "
        f"Python {platform.python_version()}, {libraries}, {platform.machine()}. "
        "The same in numbers: report.json beside this page.",
    )
