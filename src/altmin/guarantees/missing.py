"""What a report may still say where entries are missing: less, never more."""

from __future__ import annotations

from typing import Any

from altmin.guarantees.report import Condition, check

Holes = dict[str, float]
HOLES = ("fixed_by_entries", "every_feature", "samples_say_enough")


def holes_of(completion: Any) -> Holes:
    """What the report needs of a completion: shares, counts, and how well the observed entries fit."""
    names = ("share", "fewest", "poor", "ratio", "residual")
    return {name: float(getattr(completion, name)) for name in names} | {"rank": completion.basis.shape[1]}


def hole_conditions(holes: Holes) -> list[Condition]:
    """Whether the observed entries fix the model."""
    D = holes["rank"]
    return [
        check(
            "share of observed entries", "p", "evidence", holes["share"], id="observed",
            meaning="For information; holes are assumed to be independent of the values.",
        ),
        check(
            "observed entries for each unknown", "n_obs", "evidence", holes["ratio"], at_least=1.5,
            id="fixed_by_entries",
            meaning="Below 1 the low-rank model isn't fixed by the observed entries.",
        ),
        check(
            "every feature is observed", "n_w", "evidence", holes["fewest"], at_least=2 * D,
            id="every_feature",
            meaning="Observed entries of the feature that has fewest; at least twice the components.",
        ),
        check(
            "samples say enough", "poor", "evidence", holes["poor"], at_most=0.2, id="samples_say_enough",
            meaning="Share of the samples whose observed entries leave a component open.",
        ),
    ]  # fmt: skip
