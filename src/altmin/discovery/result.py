"""What was discovered: the answer in words, the candidates in a table, the code to get it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from altmin.discovery.look import Look
from altmin.estimators.model_file import save as save_model

CLAIMED = ("recovered", "plausible")
LITTLE = 0.01  # of the target's spread: terms below it are not shown
ENOUGH = "Under the assumptions that the report prints, nothing more is needed."


@dataclass(frozen=True)
class Candidate:
    """One family with one number of components, tried on the rows.

    Parameters
    ----------
    family : str
        Its name.
    n_components : int
        How many.
    error, spread : float
        Share of held-out cells' squared size that it doesn't predict, and the standard error of that.
    verdict : str
        Of its report; '' for the plain alternatives, which claim nothing.
    factors : dict
        How many of its factors have which verdict.
    seconds : float
        CPU time.
    note : str
        Why it isn't the answer, or what it says.
    model : estimator or None
        As fitted to the rows of the search.
    few_leave : float
        What a few factors leave of the rows, over what they leave of rows without structure.
    claimed : bool
        Whether the rows show that there are such factors.
    """

    family: str
    n_components: int
    error: float
    spread: float
    verdict: str
    factors: dict[str, int]
    seconds: float
    note: str = ""
    model: Any = None
    few_leave: float = float("nan")
    claimed: bool = False

    @property
    def said(self) -> str:
        """Its verdict in words, also where there is no report."""
        return self.verdict or ("claims nothing" if self.family in ("low rank", "noise") else "no report")

    def to_dict(self) -> dict[str, Any]:
        """A row of the table."""
        return {
            "family": self.family,
            "components": self.n_components,
            "held-out error": self.error,
            "verdict": self.said,
            "factors recovered": self.factors.get("recovered", 0),
            "factors plausible": self.factors.get("plausible", 0),
            "CPU seconds": self.seconds,
            "note": self.note,
        }


@dataclass(frozen=True)
class Term:
    """One term of a law: a column, or the product of two.

    Parameters
    ----------
    columns : tuple of int
        One or two columns.
    coefficient : float
        What it is multiplied by.
    weight : float
        Spread of the term over that of the target: how much of the target moves with it.
    """

    columns: tuple[int, ...]
    coefficient: float
    weight: float

    def named(self, names: Any = None) -> str:
        """For example ``0.2 x bp``."""
        known = [f"column {i}" if names is None else str(names[i]) for i in self.columns]
        return f"{self.coefficient:.3g} x {' x '.join(known)}"


@dataclass(frozen=True)
class Discovery:
    """What :func:`altmin.discover` found.

    Parameters
    ----------
    kind : str
        'mixtures', 'sparse combinations', ..., 'quadratic law', 'low rank' or 'noise'.
    n_components : int
        How many factors (or dimensions).
    answer : str
        The answer in one sentence.
    why : tuple of str
        Three sentences: what was found, how sure that is, and what would make it surer.
    best : estimator or None
        Fitted to all rows, as if you had written it; None where no family was found.
    candidates : tuple of Candidate
        All that were tried, best first.
    look : Look
        What could be seen at once.
    code : str
        The lines that fit ``best``.
    notes : tuple of str
        What was left out.
    terms : tuple of Term
        Of a law: the terms that move the target most, largest first.
    closest : Candidate or None
        Where no family is claimed: mixtures that come close, with their ``model``, which nothing confirms.
    """

    kind: str
    n_components: int
    answer: str
    why: tuple[str, ...]
    best: Any
    candidates: tuple[Candidate, ...]
    look: Look
    code: str
    notes: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    closest: Candidate | None = None

    @property
    def guarantee(self) -> Any:
        """The full report of ``best``; None where there is none, as for a linear law."""
        return getattr(self.best, "guarantee_", None)

    @property
    def names(self) -> Any:
        """Names of the columns, or None."""
        return getattr(self.best, "feature_names_in_", None)

    def __str__(self) -> str:
        lines = [
            *self.why,
            *self.notes,
            *self.look.notes,
            *(f"  {term.named(self.names)}" for term in self.terms if term.weight >= LITTLE),
            "",
            f"{'tried':<46}{'number':>7}{'held-out error':>16}  verdict",
        ]
        for row in self.candidates:
            error = f"{row.error:.2%}" if isfinite(row.error) else ""
            lines.append(f"{row.family[:45]:<46}{row.n_components:>7}{error:>16}  {row.said}")
        return "\n".join(lines)

    def plot(self, **options: Any) -> Any:
        """Draw the factors.

        Parameters
        ----------
        **options : dict
            ``image_shape``, ``feature_names``, ``ax`` and so on, as for
            :meth:`altmin.plots.ComponentsDisplay.from_estimator`.

        Returns
        -------
        ComponentsDisplay
            With ``figure_`` and ``axes_``.
        """
        from altmin.plots import ComponentsDisplay

        if not hasattr(self.best, "components_"):
            raise ValueError(f"the answer is {self.kind!r}: there are no factors to draw")
        return ComponentsDisplay.from_estimator(self.best, **options)

    def _repr_html_(self) -> str:
        from altmin.discovery.page import parts_of

        return "".join(str(part) for part in parts_of(self))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: everything but the models."""
        return {
            "kind": self.kind,
            "n_components": self.n_components,
            "answer": self.answer,
            "why": list(self.why),
            "terms": [{"columns": list(t.columns), "coefficient": t.coefficient} for t in self.terms],
            "candidates": [row.to_dict() for row in self.candidates],
            "code": self.code,
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to ``path``, for :func:`altmin.load`, and what was tried beside it as JSON.

        Parameters
        ----------
        path : path-like
            Of the model file; the JSON has the same name with ``.json``, and is all where no model of
            altmin was fitted.
        """
        if self.guarantee is not None:
            save_model(self.best, path)
        Path(path).with_suffix(".json").write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")
