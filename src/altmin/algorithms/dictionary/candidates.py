"""What a search has found so far: candidates, how far the current start is, and which of them agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.algorithms.dictionary.starts import agree
from altmin.contract import record


@record
class Candidate:
    """Where a start led: atoms, decoder, intercept, and a score (larger is better) by which it competes.

    A candidate whose codes vanish exactly scores minus its mean |z|, others their evidence.
    """

    kind: str
    W: Any
    atoms: Any
    centre: Any
    thresholds: Any
    score: float
    noise: float
    exact: bool = False
    prior: Any = None  # Prior, where there is noise


@record
class Progress:
    """Passes of the current phase, the last move of the decoder, the least one, and passes since then."""

    passes: int = 0
    change: float = 1.0
    least_change: float = np.inf
    waited: int = 0

    def after(self, change: float) -> Progress:
        """The progress after one more pass, which moved the decoder by ``change``."""
        waited = 0 if change < 0.9 * self.least_change else self.waited + 1
        return Progress(self.passes + 1, change, min(change, self.least_change), waited)


@record
class Search:
    """Where the portfolio of starts is, the candidates so far, and the best of them."""

    start: int = 0
    kind: str = ""
    tried: int = 0
    rotation: Any = None  # (k, k): W of the current start, before its polish
    suspects: Any = None  # (m, 2): pairs of atoms that may be mixed up
    repairs: int = 0
    refined: bool = False  # by expectation maximisation: what follows is its last polish
    found: tuple[Candidate, ...] = ()
    best: Any = None  # Candidate

    @property
    def agreeing(self) -> int:
        """Starts that led to the best candidate."""
        return len(self._alike())

    @property
    def trusted(self) -> bool:
        """Whether the agreement says something: exact zeros, or searches with and without whitening.

        Whitening colours the noise, so two whitened starts may agree on an error that others would beat.
        """
        penalised = sum(candidate.kind.startswith("l1") for candidate in self.found)
        alike = any(candidate.kind.startswith("l1") for candidate in self._alike())
        return (self.best is not None and self.best.exact) or alike or penalised >= 2

    def _alike(self) -> list[Candidate]:
        if self.best is None:
            return []
        least = 0.9 if self.best.exact else 0.98
        return [c for c in self.found if c is self.best or agree(c.atoms, self.best.atoms, least)]
