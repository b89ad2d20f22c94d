"""All kinds of the adversary: every base with every perturbation, for every estimator."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from altmin_lab.adversary import cones, dictionaries, larger, quadratics
from altmin_lab.adversary.compose import Array, Part, sines
from altmin_lab.adversary.counted_mixtures import COUNTED_MIXTURES
from altmin_lab.adversary.discrete_codes import DISCRETE_CODES
from altmin_lab.adversary.hidden_terms import HIDDEN_TERMS
from altmin_lab.adversary.later_mixtures import LATER_MIXTURES
from altmin_lab.adversary.laws import LAWS
from altmin_lab.adversary.mixtures import MIXTURES
from altmin_lab.adversary.strange_dictionaries import STRANGE_DICTIONARIES
from altmin_lab.adversary.strange_laws import STRANGE_LAWS
from altmin_lab.adversary.strange_mixtures import STRANGE_MIXTURES
from altmin_lab.adversary.uneven_laws import UNEVEN_LAWS
from altmin_lab.adversary.unforeseen_dictionaries import UNFORESEEN_DICTIONARIES
from altmin_lab.adversary.unforeseen_laws import UNFORESEEN_LAWS
from altmin_lab.adversary.unforeseen_mixtures import UNFORESEEN_MIXTURES

FAMILIES = ("and", "complete", "orthogonal", "online", "machine", "sensing")


@dataclass(frozen=True)
class Trial:
    """One problem: an estimator at its defaults, its data, and how wrong its answer is.

    Parameters
    ----------
    model : estimator
        Not fitted.
    data : tuple
        Arguments of ``fit`` and ``guarantee``.
    factors : callable or None
        From the fitted model to the error of each component; None for models without components.
    error : callable
        From the fitted model to the error of the whole; 1 where something is missing.
    assume : str or None
        An assumption that is true of these data.
    holds : bool
        Whether the data follow the model, so that 'recovered' is wanted where it is true.
    by_nature : bool
        Whether no test can tell these data from others with another truth.
    """

    model: Any
    data: tuple[Any, ...]
    factors: Callable[[Any], Array] | None
    error: Callable[[Any], float]
    assume: str | None = None
    holds: bool = True
    by_nature: bool = False


@dataclass(frozen=True)
class Kind:
    """A base and a perturbation, for one estimator."""

    family: str
    base: Part
    perturbation: Part

    @property
    def name(self) -> str:
        """Of base and perturbation."""
        return f"{self.base.name} x {self.perturbation.name}"

    @property
    def held_out(self) -> bool:
        """Whether rules must not be tuned on it."""
        return self.perturbation.held_out

    @property
    def group(self) -> str:
        """That of the base; what a perturbation adds noise to isn't clean."""
        added = self.base.group == "clean" and self.perturbation.name in _ADD_NOISE.get(self.family, ())
        return "noisy" if added else self.base.group

    def trial(self, seed: int, number: int) -> Trial:
        """The problem of this number in the round of this seed."""
        key = zlib.crc32(f"{self.family}/{self.name}".encode())
        rng = np.random.default_rng([seed, key, number])
        return _MAKERS[self.family](rng, self.base, self.perturbation)


def kinds(held_out: bool, families: tuple[str, ...] = FAMILIES) -> Iterator[Kind]:
    """The kinds of one side of the split."""
    for family in families:
        for base, perturbation in product(*_PARTS[family]):
            if perturbation.held_out == held_out:
                yield Kind(family, base, perturbation)


def _stopped(model: Any, after: int | None) -> Any:
    """The estimator, stopped early where the kind asks for it."""
    return model if after is None else model.set_params(max_iter=after)


def _components(draft: Any, model: Any) -> Trial:
    model = _stopped(model, draft.stop)
    X, truth = draft.data(), draft.factors

    def error(fitted: Any) -> float:
        if not draft.sound or len(fitted.components_) != len(truth):
            return 1.0
        return float(max(sines(truth, fitted.components_).max(), sines(fitted.components_, truth).max()))

    def each(fitted: Any) -> Array:
        return sines(fitted.components_, truth)

    return Trial(model, (X,), each, error, draft.assume, draft.holds, draft.by_nature)


def _cone(rng: np.random.Generator, base: Part, perturbation: Part) -> Trial:
    from altmin import AND

    draft = base.act(rng)
    perturbation.act(draft)
    draft.assume = "pure" if cones.pure(draft.codes) else None
    draft.holds = draft.holds and draft.assume is not None  # else data can't decide
    return _components(draft, AND(draft.asked or len(draft.factors)))


def _dictionary(make: Callable[..., Any], orthogonal: bool) -> Callable[..., Trial]:
    def trial(rng: np.random.Generator, base: Part, perturbation: Part) -> Trial:
        draft = base.act(rng, orthogonal)
        perturbation.act(draft)
        if orthogonal and draft.asked is not None and draft.asked < draft.factors.shape[1]:
            draft.sound = True  # an orthogonal dictionary always has as many atoms as features
        if orthogonal and perturbation.act is dictionaries.offset:
            draft.holds = False  # it has no intercept
        return _components(draft, make(draft.asked or len(draft.factors)))

    return trial


def standardised(w: Array, M: Array, unit: Array, centre: Array) -> Array:
    """Coefficients of the features less their mean, in units of their spread."""
    return np.concatenate([(w + 2 * M @ centre) * unit, (M * np.outer(unit, unit)).ravel()])


def _quadratic(linear: bool) -> Callable[..., Trial]:
    def trial(rng: np.random.Generator, base: Part, perturbation: Part) -> Trial:
        from altmin import FactorizationMachineRegressor, RankOneSensing

        law = base.act(rng, linear)
        perturbation.act(law)
        X, y = law.data()
        kind = FactorizationMachineRegressor if linear else RankOneSensing
        unit, centre = np.maximum(X.std(axis=0), 1e-12), X.mean(axis=0) if linear else np.zeros(X.shape[1])

        def error(fitted: Any) -> float:
            if not law.sound:
                return 1.0
            w, M = quadratics.closest(law) if law.curved else (law.w, law.M)
            true = standardised(w, M, unit, centre)
            coef = fitted.coef_ if linear else np.zeros_like(w)
            found = standardised(coef, fitted.matrix(), unit, centre)
            return float(np.linalg.norm(found - true) / np.linalg.norm(true))

        assume = "exogenous" if law.exogenous and law.sound else None
        model = _stopped(kind(law.rank, random_state=0), law.stop)
        return Trial(model, (X, y), None, error, assume, law.holds, law.by_nature)

    return trial


def _complete(k: int) -> Any:
    from altmin import CompleteDictionaryLearning

    return CompleteDictionaryLearning(k, random_state=0)


def _orthogonal(k: int) -> Any:
    from altmin import OrthogonalDictionaryLearning

    return OrthogonalDictionaryLearning()


def _online(k: int) -> Any:
    from altmin import OnlineDictionaryLearning

    return OnlineDictionaryLearning(k, batch_size=300, random_state=0)


_DICTIONARIES = (
    *dictionaries.PERTURBATIONS,
    *DISCRETE_CODES,
    *STRANGE_DICTIONARIES,
    *UNFORESEEN_DICTIONARIES,
)
_MIXTURES = (
    *cones.PERTURBATIONS,
    *HIDDEN_TERMS,
    *COUNTED_MIXTURES,
    *MIXTURES,
    *LATER_MIXTURES,
    *STRANGE_MIXTURES,
    *UNFORESEEN_MIXTURES,
)
_LAWS = (*quadratics.PERTURBATIONS, *LAWS, *STRANGE_LAWS, *UNEVEN_LAWS, *UNFORESEEN_LAWS)
_ATOMS = (*dictionaries.BASES, *larger.DICTIONARIES)
_SQUARES = (*quadratics.BASES, *larger.QUADRATICS)
_PARTS: dict[str, tuple[tuple[Part, ...], tuple[Part, ...]]] = {
    "and": ((*cones.BASES, *larger.CONES), _MIXTURES),
    "complete": (_ATOMS, _DICTIONARIES),
    "orthogonal": (_ATOMS, _DICTIONARIES),
    "online": (_ATOMS, _DICTIONARIES),
    "machine": (_SQUARES, _LAWS),
    "sensing": (_SQUARES, _LAWS),
}
_ADD_NOISE = {
    "and": cones.ADD_NOISE,
    **dict.fromkeys(("complete", "orthogonal", "online"), dictionaries.ADD_NOISE),
}
_MAKERS: dict[str, Callable[..., Trial]] = {
    "and": _cone,
    "complete": _dictionary(_complete, False),
    "orthogonal": _dictionary(_orthogonal, True),
    "online": _dictionary(_online, False),
    "machine": _quadratic(True),
    "sensing": _quadratic(False),
}
