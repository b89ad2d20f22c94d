"""The table by package, and every bug that the tests did not notice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

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
    judged = [line for line in lines if line["key"] not in reasons]
    equal = [line for line in lines if line["key"] in reasons]
    missed = [line for line in judged if line["fate"] != "caught"]
    text = [
        "# Would the tests notice a bug?",
        "",
        f"{len(lines)} plausible bugs were drawn at random (seed {seed}) over `src/altmin`, planted one at",
        "a time, and met by the fast tests that reach them: a comparison flipped, a bound ten times as",
        "wide, a condition that always holds, an argument ignored, a term or a row left out, an index off by",
        "one, an error not raised. Pictures and the demo are left out: people look at those. `make mutate`",
        "runs it again.",
        "",
        "| package | bugs | caught | share |",
        "|---|---|---|---|",
        *_table(judged),
        "",
    ]
    if equal:
        text += ["## Bugs that change nothing", ""]
        text += [f"- {_name(line)}: {reasons[line['key']]}" for line in equal]
        text += [""]
    text += ["## Not noticed", ""]
    text += [f"- {_name(line)}{'' if line['n_tests'] else ' (no test calls it)'}" for line in missed]
    return "\n".join(text) + "\n"


def _table(lines: list[dict[str, Any]]) -> list[str]:
    bugs = Counter(line["package"] for line in lines)
    caught = Counter(line["package"] for line in lines if line["fate"] == "caught")
    rows = [(name, bugs[name], caught[name]) for name, _ in bugs.most_common()]
    rows.append(("all", len(lines), sum(caught.values())))
    return [f"| {name} | {n} | {k} | {k / max(n, 1):.0%} |" for name, n, k in rows]


def _name(line: dict[str, Any]) -> str:
    bug = line["mutant"]
    before, after = (" ".join(bug[side].split()) for side in ("before", "text"))
    return f"`{bug['path']}:{bug['line']}` {bug['operator']}: `{_short(before)}` became `{_short(after)}`"


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
