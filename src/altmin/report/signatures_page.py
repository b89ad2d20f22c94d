"""A page about the signatures of a cohort: what was found, what it is called, and whether to believe it."""

from __future__ import annotations

from typing import Any

from altmin.plots import plot_exposures, plot_matches, plot_number, plot_signatures
from altmin.report.page import Raw, drawn, figure_style, folded, join, page, table, tag

STABLE = 0.95  # cosine in refits from which a signature is said to come again


def signatures_page(
    model: Any, matching: Any = None, assigned: Any = None, *, title: str = "Signatures"
) -> str:
    """HTML of a page about a fitted :class:`altmin.signatures.SignatureModel`.

    Parameters
    ----------
    model : SignatureModel
        Fitted.
    matching : Matching or None
        From :func:`altmin.signatures.match`.
    assigned : Exposures or None
        Exposures to reference signatures, from :func:`altmin.signatures.refit`.
    title : str
        Of the page.

    Returns
    -------
    str
        A page that asks no host for anything.
    """
    with figure_style():
        parts = [*_found(model, matching), *_exposures(model, assigned)]
    samples, mutations = len(model.exposures_.samples), int(model.exposures_.values.sum())
    lead = f"{len(model.signatures_)} signatures in {samples} samples with {mutations:,} mutations."
    return page(title, *parts, lead=lead)


def _found(model: Any, matching: Any) -> list[Any]:
    rows = model.summary()
    for row, match in zip(rows, matching.rows if matching is not None else [], strict=False):
        row["is"] = " + ".join(match.references) if match.kind != "new" else f"new ({match.references[0]}?)"
        row["cosine"] = match.cosine
    for row in rows:
        if row["stability"] is not None:
            row["comes again"] = "yes" if row["stability"] >= STABLE else "no"
    names = [_title(row) for row in rows]
    parts = [
        Raw("<h2>What was found</h2>"),
        table([{key: value for key, value in row.items() if key != "against"} for row in rows]),
        tag("p", _words(model, matching), class_="soft small"),
        drawn(lambda: plot_signatures(model, names=names), "the signatures"),
    ]
    if model.number_ is not None:
        parts += [Raw("<h2>How many</h2>"), tag("p", str(model.number_)), _number(model)]
    if matching is not None:
        parts += [Raw("<h2>What they are</h2>"), drawn(lambda: plot_matches(matching).figure, "the matches")]
        parts += [
            tag("p", f"{name} is split into {' and '.join(found)}.")
            for name, found in matching.splits.items()
        ]
    report = folded("the whole report", Raw(model.guarantee_._repr_html_()))
    return [*parts, Raw("<h2>Is it the truth?</h2>"), _against(rows), report]


def _number(model: Any) -> Raw:
    return drawn(lambda: plot_number(model).figure, "held-out mutations by the number of signatures")


def _title(row: dict[str, Any]) -> str:
    name = f"{row['signature']}  {row['share of mutations']:.0%} of the mutations, {row['verdict']}"
    return name + (f", {row['is']} ({row['cosine']:.2f})" if "is" in row else "")


def _words(model: Any, matching: Any) -> str:
    words = "Verdict: 'recovered' says that a signature has a cosine of .95 with one that made the counts. "
    if model.stability_ is not None:
        words += (
            "Stability: the second smallest cosine to its match in fits to cohorts drawn with replacement; "
            f"from {STABLE:g} on a signature comes again; the verdict asks for more. "
        )
    if matching is not None:
        words += f"References match from a cosine of {matching.threshold:g} on."
    return words


def _against(rows: list[dict[str, Any]]) -> Raw:
    listed = [{"signature": row["signature"], "against": row["against"]} for row in rows if row["against"]]
    return table(listed) if listed else tag("p", "Nothing stands against any of them.")


def _exposures(model: Any, assigned: Any) -> list[Any]:
    parts = [
        Raw("<h2>Exposures</h2>"),
        drawn(lambda: plot_exposures(model), "the exposures"),
        _listed(model.exposures_),
    ]
    if assigned is not None:
        parts += [
            Raw("<h2>Exposures to reference signatures</h2>"),
            drawn(lambda: plot_exposures(assigned), "the exposures to reference signatures"),
            _listed(assigned),
        ]
    return parts


def _listed(found: Any) -> Raw:
    """Every exposure that isn't 0, with its interval."""
    rows = []
    for i, sample in enumerate(found.samples):
        row: dict[str, Any] = {"sample": sample}
        for k, name in enumerate(found.signatures):
            low, value, high = found.low[i, k], found.values[i, k], found.high[i, k]
            row[name] = f"{value:.0f} ({low:.0f} to {high:.0f})" if value > 0 else f"0 (to {high:.0f})"
        rows.append(row)
    note = f"intervals of {found.level:.0%}; dispersion {found.dispersion:.2f}"
    return join(folded(f"mutations of each sample, {note}", table(rows)))
