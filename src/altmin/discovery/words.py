"""The answer of a search in three sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from altmin.discovery.look import Look
from altmin.discovery.result import ENOUGH, Candidate, Discovery

_MOST = 0.5  # of the squared size of held-out cells
_SURE = {
    "plausible": "The report says 'plausible': the factors fit, but another explanation remains.",
    "unknown": "The report says 'unknown': a few of these factors make up each row, but how close they are "
    "to the true ones can't be seen.",
    "contradicted": "The report says 'contradicted': a few of these factors make up each row, but as they "
    "stand they aren't what made the rows. Some of them are wrong, or rows are made in another way.",
}


def found_in_words(
    best: Candidate, sentence: str, ranked: tuple[Candidate, ...], look: Look, notes: tuple[str, ...]
) -> Discovery:
    """A family was found: what it is, how sure that is, and what would make it surer."""
    model, k = best.model, len(best.model.components_)
    report = model.guarantee_
    answer = f"In this table {sentence.format(k=k)}."
    sure = _SURE.get(report.verdict, f"The report says 'recovered': {report.claim}")
    rivals = [c for c in ranked if c is not best and c.claimed and c.family != best.family]
    if rivals:
        names = " and ".join(dict.fromkeys(c.family for c in rivals))
        sure += f" {names.capitalize()} can't be told apart from it here."
    surer = f"To be surer: {report.advice}." if report.advice else ENOUGH
    why = (answer, sure, surer)
    return Discovery(best.family, k, answer, why, model, ranked, look, code_of(model), notes)


def nothing_in_words(
    k: int,
    ranked: tuple[Candidate, ...],
    look: Look,
    stopped: bool,
    notes: tuple[str, ...],
    closest: Candidate | None = None,
) -> Discovery:
    """No family was found: low rank, or noise."""
    if k:
        kind = "low rank"
        answer = (
            f"No structure beyond low rank was found: {k} dimensions predict held-out cells, but no family "
            "of factors that was tried is confirmed by the rows."
        )
    else:
        kind = "noise"
        answer = "Nothing but noise was found: no cell can be predicted from the others of its row."
    undecided = [c for c in ranked if c.model is not None and not c.note]
    others = [c for c in undecided if c is not closest]
    first = undecided[0] if closest is None and undecided else closest
    surer = "More rows, or less noise, would let the tests of the families see more."
    if first is not None and not stopped:
        advice = first.model.guarantee_.advice.split(";")[0]
        surer = f"To be surer of {first.family}: {advice}." if advice else surer
    said = []
    if closest is not None:
        said.append(
            f"Mixtures of {closest.n_components} features come close: they explain {1 - closest.error:.1%} "
            f"of the held-out cells, but their report says '{closest.verdict}', so they are a suggestion and "
            "no claim."
        )
    if stopped:
        said.append("The search was stopped before it ended, so this may change.")
    elif others:
        names = ", ".join(f"{c.family} ({c.n_components})" for c in others)
        said.append(f"Some families could be neither confirmed nor ruled out: {names}.")
    elif closest is None and any(c.verdict for c in ranked):
        said.append(
            "No family that was tried fits the rows well enough; the list says what speaks against each."
        )
    elif closest is None:
        said.append("Every family was ruled out by a first look at the rows.")
    left = next(c.error for c in ranked if (c.family, c.n_components) == (kind, k))
    if k and left > _MOST:
        said.append(
            f"{k} dimensions leave {left:.0%} of the held-out cells unexplained: factors that few rows "
            "have, or that are weaker than this noise, would not be seen."
        )
    code = f"from sklearn.decomposition import PCA\n\nmodel = PCA({k}).fit(X)\n" if k else ""
    if closest is not None:
        code += f"\n# what comes close, and isn't confirmed:\n{code_of(closest.model)}"
    why = (answer, " ".join(said), surer)
    return Discovery(kind, k, answer, why, None, ranked, look, code, notes, closest=closest)


def aside_in_code(found: Discovery, constant: list[int], frame: bool) -> Discovery:
    """The answer with a line of code for columns of one value, which were taken as 0."""
    if not constant:
        return found
    line = f"X = X.copy()\nX{'.iloc' if frame else ''}[:, {constant}] = 0  # one value only\n"
    return replace(found, code=found.code.replace("\n\n", f"\n\n{line}", 1))


def code_of(model: Any, data: str = "X") -> str:
    """The lines that give this model again."""
    changed = " ".join(str(model).split())
    return f"import altmin\n\nmodel = altmin.{changed}.fit({data})\nmodel.guarantee({data})\n"
