"""The table by package, and every bug that the tests did not notice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from altmin_lab.mutation.campaign import NO_END

FATES = ("caught", "survived", "unreached", "equivalent")
EQUIVALENTS = Path(__file__).with_name("equivalents.json")


def page(lines: list[dict[str, Any]], seed: int) -> str:
    """Markdown of a campaign.

    Parameters
    ----------
    lines : list of dict
        What :func:`altmin_lab.mutation.campaign.run` returned.
    seed : int
        Of the draw.

    Returns
    -------
    str
        A table by package, the survivors, and those that no test can notice, with the reason.
    """
    reasons: dict[str, str] = json.loads(EQUIVALENTS.read_text())
    fates = [(line, _fate(line, reasons)) for line in lines]
    endless = sum(line["by"] == NO_END for line in lines)
    text = [
        "# Would the tests notice a bug?",
        "",
        f"{len(lines)} plausible bugs were drawn at random (seed {seed}) over `src/altmin`, planted one at a",
        "time, and met by the fast tests that reach them, as many as run in some seconds: a comparison",
        "flipped, a bound ten times as wide, a condition that always holds, an argument ignored, a term or a",
        "row left out, an index off by one, an error not raised. Pictures and the demo are left out: people",
        "look at those. A bug is *caught* where a test fails that passes without it"
        + (f" ({endless} of them made a test run without end)" if endless else "")
        + ", *unreached* where",
        "no test calls its function, *equivalent* where no test could see it, for a reason given below; the",
        "share is that of the caught ones among those that are not equivalent. `make mutate` runs it again.",
        "",
        "| package | bugs | caught | survived | unreached | equivalent | share caught |",
        "|---|---|---|---|---|---|---|",
        *_table(fates),
        "",
    ]
    equal = [line for line, fate in fates if fate == "equivalent"]
    if equal:
        text += ["## Bugs that change nothing", ""]
        text += [f"- {_name(line)}: {reasons[line['key']]}" for line in equal]
        text += [""]
    missed = [(line, fate) for line, fate in fates if fate in ("survived", "unreached")]
    text += ["## Not noticed", ""]
    text += [
        f"- {_name(line)}{' (no test calls it)' if fate == 'unreached' else ''}" for line, fate in missed
    ]
    return "\n".join(text) + "\n"


def _fate(line: dict[str, Any], reasons: dict[str, str]) -> str:
    """What became of it; a reason counts only where no test has proved it wrong."""
    fate = str(line["fate"])
    return "equivalent" if line["key"] in reasons and fate != "caught" else fate


def _table(fates: list[tuple[dict[str, Any], str]]) -> list[str]:
    found: dict[str, Counter[str]] = {}
    for line, fate in fates:
        found.setdefault(line["package"], Counter())[fate] += 1
    rows = sorted(found.items(), key=lambda row: -row[1].total())
    return [_row(name, count) for name, count in (*rows, ("all", Counter(fate for _, fate in fates)))]


def _row(name: str, count: Counter[str]) -> str:
    judged = count.total() - count["equivalent"]
    share = f"{count['caught'] / judged:.0%}" if judged else "-"
    return f"| {name} | {count.total()} | {' | '.join(str(count[fate]) for fate in FATES)} | {share} |"


def _name(line: dict[str, Any]) -> str:
    bug = line["mutant"]
    before, after = (" ".join(bug[side].split()) for side in ("before", "text"))
    return f"`{bug['path']}:{bug['line']}` {bug['operator']}: `{_short(before)}` became `{_short(after)}`"


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
