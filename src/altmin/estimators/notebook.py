"""In a notebook a fitted estimator shows how its fit ended and what its guarantee says, under the diagram."""

from __future__ import annotations

import html
from typing import Any


class NotebookMixin:
    """scikit-learn's diagram, with the outcome and the guarantee beneath it once fitted."""

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + fitted_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += fitted_html(self)
        return bundle


def fitted_html(estimator: Any) -> str:
    """Outcome and guarantee of a fitted estimator; nothing before it is fitted."""
    outcome, report = (getattr(estimator, name, None) for name in ("outcome_", "guarantee_"))
    parts = []
    if outcome is not None:
        parts.append(f"<p style='margin:.4em 0'>{html.escape(str(outcome))}</p>")
    if report is not None:
        parts.append(
            f"<details><summary>guarantee: <b>{html.escape(report.verdict)}</b></summary>"
            f"{report._repr_html_()}</details>"
        )
    return f"<div style='font-family:system-ui,sans-serif'>{''.join(parts)}</div>" if parts else ""
