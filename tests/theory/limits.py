"""Evidence with which all is good, of every family, and the one table of all bounds that verdicts rest on.

A bound that is changed on purpose is changed in one line of ``LIMITS``; a new rule is one more line, and
tests/theory/test_rules_at_their_bounds.py is red until it stands here.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from altmin.algorithms.quadratic.lens import Lens
from altmin.guarantees.classifier import CLASSIFIER, ClassifierEvidence
from altmin.guarantees.cone_shape import ConeShape
from altmin.guarantees.dictionary import DICTIONARY, AtomsEvidence
from altmin.guarantees.dictionary_atoms import AtomFacts
from altmin.guarantees.dictionary_theory import DictionaryEvidence
from altmin.guarantees.machine import MACHINE, MachineEvidence
from altmin.guarantees.machine_rows import RowEvidence
from altmin.guarantees.measurements import Measured
from altmin.guarantees.misfit import Misfit
from altmin.guarantees.nonnegative import NONNEGATIVE, ConeEvidence
from altmin.guarantees.overcomplete import OVERCOMPLETE, AtomEvidence
from altmin.guarantees.sensing import COMPLETION, PHASE, SENSING, SensingEvidence

K = 4  # components of the dictionaries here
D = 3  # components of the cones
P = 10  # parameters of the quadratics
N = 10_000


def atoms(noise: float = 0.0, **changes: Any) -> AtomFacts:
    ones = np.ones(K)
    facts = AtomFacts(
        noise=noise, n_samples=N, n_distinct=N, theta=0.1 * ones, on=1000.0 * ones, off=9000.0 * ones,
        span=0.9 * ones, together=0.0 * ones, partner=np.arange(K)[::-1], line=0.1 * ones, second=0.1 * ones,
        drift=0.1 * ones, step=0.0 * ones, se=0.0 * ones, left=0.1, discrete=False, spread=1.0, dense=0.0,
        outside=1.0, curved=1.0, alone=ones, size_related=0.0 * ones, sign_related=0.0 * ones,
        tied=0.0, multiplied=0.1, bare=0.0 * ones, three=0.0 * ones, cut=0.0, grid=0.0,
        turn=0.0 * ones, ways=3.0 * ones, follows=0.1 * ones, all_follow=0.1, bends=0.1, unmet=0.1 * ones,
    )  # fmt: skip
    return replace(facts, **changes)


def dictionary(theorem: int = 2, **changes: Any) -> AtomsEvidence:
    ones = np.ones(K)
    fit = DictionaryEvidence(
        np.ones((5, K)), 0.5 * ones, ones, 0.1 * ones, np.eye(K), N, 0.0, (0.1,), None, theorem
    )
    return replace(AtomsEvidence(fit, atoms()), **changes)


REFITS = {"halves": np.zeros(K), "restarts": np.zeros(K)}


def cone_shape() -> ConeShape:
    weights = {"r": 1.0, "k": 1.0, "m": 0.1, "lambda": 0.5, "q": 1.0, "D": float(D), "between": 0.0}
    return ConeShape(
        negative=0.0, pairs=50.0, span=0.9, condition=10.0, distinct=500.0, piled=True, negative_mass=0.0,
        empty=0, weights=weights, carried=np.full(D, 100.0), pure=np.full(D, 50.0),
        slack=np.zeros(D),
    )  # fmt: skip


def cone(**changes: Any) -> ConeEvidence:
    return replace(ConeEvidence(cone_shape(), 1e-6, room=np.zeros(D)), **changes)


NOISY_CONE = {
    "residual": 0.03, "halves": np.zeros(D), "restarts": np.zeros(D), "again": np.zeros(D),
    "at_noise": cone_shape(),
    "structured": 1.0, "excess": 0.5, "curved": 1.0, "unseen": 0.0, "multiplied": 1.0, "constant": 1.0,
    "drifting": 1.0, "cut": 0.0, "lost": 0.0,
}  # fmt: skip
INFORMED = NOISY_CONE | {
    "halves": None, "restarts": None, "again": None, "informed": np.zeros(D), "pure": True, "room": None,
}  # fmt: skip
REFITS_OF_CONE = {"halves": np.zeros(D), "restarts": np.zeros(D)}
NEARLY_EXACT = {
    "structured": 1.0,
    "curved": 1.0,
    "unseen": 0.0,
    "multiplied": 1.0,
    "constant": 1.0,
    "drifting": 1.0,
    "cut": 0.0,
    "lost": 0.0,
}
HOLES = {"share": 1.0, "fewest": 100.0, "poor": 0.0, "ratio": 5.0, "residual": 0.0, "rank": D}

_QUIET = Misfit(shape=0.9, pattern=0.5, rank=0.9, product=0.9, ridge=0.9, unseen=0.01)


def looked_at(left: float) -> RowEvidence:
    return RowEvidence(
        P, float(N), 0.5, left, 0.0, 0.0, _QUIET, 0.5, 0.2, 0.1, N, left, left=left, smallest=0.5,
        largest=1.0, white=1.0, attenuation=0.01, drift=0.5, size=2.0, robustness=0.5,
    )  # fmt: skip


def measurements(left: float) -> Measured:
    return Measured(
        P, float(N), 0.5, left, 0.0, 0.0, _QUIET, 0.5, N, white=1.0, attenuation=0.01, drift=0.5, size=2.0,
        robustness=0.5, design_t=0.5,
    )  # fmt: skip


LENS = Lens(np.zeros(D), np.ones(D), 0.0, 1.0, blind=np.zeros(D, dtype=bool))


def machine(rows: RowEvidence | None, **changes: Any) -> MachineEvidence:
    good = MachineEvidence(LENS, rows, N, batch=1000.0, rank=1, ratio=0.5, loss=0.1, raw=False)
    return replace(good, **changes)


def sensing(rows: Measured | None, **changes: Any) -> SensingEvidence:
    return replace(SensingEvidence(float(N), float(P), loss=0.1, ratio=0.5, rows=rows), **changes)


def stable_atoms() -> AtomEvidence:
    return AtomEvidence(
        0.01, K, 8, N, 3 * N, 3, 1.0, np.full(8, 1 / 8), np.full(8, 0.01 / 8), 3, 2.0, None, 0.0, False, K,
        sines=np.zeros(K), use=np.full(K, 100.0), held_out=0.1, surrogate=1.0,
    )  # fmt: skip


@dataclass(frozen=True)
class Limit:
    """A bound that a verdict rests on.

    ``fails`` is what is said at best where it is broken; ``where`` the path to a number of the evidence,
    which is ``unit`` times what is held against the bound; ``speaks_of`` the factors that it is said of: the
    'one' whose number it is, 'all' of them, the 'others', or 'none', where it speaks of the whole alone.
    ``also`` is a row with a tighter bound on the same number, ``rest`` what is then said of other factors,
    ``outside`` what becomes of the row itself, ``blank`` what is said where nothing was measured.
    """

    id: str
    sense: str
    bound: float
    fails: str
    where: str | Callable[[Any, float], Any]
    unit: float = 1.0
    speaks_of: str = "all"
    also: str = ""
    rest: str = ""
    outside: str = "violated"
    blank: str = ""

    def at(self, evidence: Any, measured: float) -> Any:
        """The evidence with this number in this place."""
        if callable(self.where):
            return self.where(evidence, measured)
        return put(evidence, self.where.split("."), measured * self.unit)

    def beyond(self, share: float) -> float:
        """A number this far outside of the bound."""
        away = share * max(abs(self.bound), 1.0)
        return self.bound + away if self.sense == "<=" else self.bound - away


def put(record: Any, path: list[str], value: float) -> Any:
    old = record[path[0]] if isinstance(record, dict) else getattr(record, path[0])
    if len(path) > 1:
        value = put(old, path[1:], value)
    elif isinstance(old, np.ndarray):
        value = np.where(np.arange(len(old)) == 1, value, old)  # of one factor
    return record | {path[0]: value} if isinstance(record, dict) else replace(record, **{path[0]: value})


def _blurred(evidence: AtomsEvidence, measured: float) -> AtomsEvidence:
    larger = 1.1 if evidence.fit.theorem == 3 else 1.03  # codes have errors, too; a stream is followed
    name = "turn" if evidence.fit.theorem == 1 else "se"
    return put(evidence, ["atoms", name], measured / (2.5 * larger))


def _in_all_ways(evidence: AtomsEvidence, measured: float) -> AtomsEvidence:
    """Three doubts about one atom, each far below its own bound, whose squares add up to this."""
    size, noisy = (measured / 3) ** 0.5, evidence.atoms.noise > 0
    doubts = {
        "together": size * (0.19 if noisy else 0.35),
        "line": size,
        "size_related": size * (_CHANCE + (4 if noisy else 1)),
    }
    for name, value in doubts.items():
        evidence = put(evidence, ["atoms", name], value)
    return evidence


def _nearly_all(evidence: AtomsEvidence, measured: float) -> AtomsEvidence:
    """Five unusual numbers of an atom, none beyond its own bound, whose fourth powers add up to this."""
    size = (measured / 5) ** 0.25
    doubts = {
        "line": 0.75 * size,
        "together": 0.12 * size,
        "lean": (2 * np.log(2 * evidence.fit.components.shape[1])) ** 0.5 * size,  # this one speaks of all
        "multiplied": 0.88 * size,  # and these
        "bends": 0.8 * size,
    }
    none = dict.fromkeys(("curved", "tied", "all_follow", "spread", "dense"), 0.0)
    zeros = dict.fromkeys(
        ("together", "line", "size_related", "sign_related", "second", "drift"), np.zeros(K)
    )
    evidence = replace(evidence, atoms=replace(evidence.atoms, **none, **zeros))
    for name, value in doubts.items():
        evidence = put(evidence, ["atoms", name], value)
    return evidence


def _in_all_codes(evidence: AtomsEvidence, measured: float) -> AtomsEvidence:
    """The same of what would tell of a missing atom; without noise signs tell nothing."""
    noisy = evidence.atoms.noise > 0
    size = (measured / (3 if noisy else 2)) ** 0.5
    for name in ("multiplied", "three"):
        evidence = put(evidence, ["atoms", name], size)
    return put(evidence, ["atoms", "tied"], 5 * size) if noisy else evidence


def _dead_columns(evidence: MachineEvidence, measured: float) -> MachineEvidence:
    return replace(evidence, lens=replace(LENS, T=(np.arange(D) <= measured - 1).astype(float)))


def _sparser(evidence: AtomEvidence, measured: float) -> AtomEvidence:
    return replace(evidence, held_out=measured * evidence.surrogate)


_ATOM_RULES = [
    Limit("span", ">=", 0.2, "unknown", "atoms.span", speaks_of="one"),
    Limit("lines", "<=", 1.0, "plausible", "atoms.line", speaks_of="one"),
    Limit("one_direction", "<=", 1.0, "plausible", "atoms.second", speaks_of="one"),
    Limit("unchanging", "<=", 1.0, "plausible", "atoms.follows", speaks_of="one"),
    Limit("none_changing", "<=", 1.0, "plausible", "atoms.all_follow"),
    Limit("none_bent", "<=", 1.0, "plausible", "atoms.bends"),
    Limit("still", "<=", 1.0, "contradicted", "atoms.drift", speaks_of="one"),
    Limit("mixed", "<=", 0.0, "plausible", "atoms.bare", speaks_of="one"),
    Limit("three", "<=", 1.0, "plausible", "atoms.three", speaks_of="one"),
    Limit("several", "<=", 1.02, "plausible", _in_all_ways, speaks_of="one"),
    Limit("uncut", "<=", 0.0, "contradicted", "atoms.cut"),
    Limit("fine", "<=", 0.25, "plausible", "atoms.grid"),
    Limit("straight", "<=", 4.0, "contradicted", "atoms.curved"),
    Limit("no_lean", "<=", 3.5, "plausible", "atoms.lean"),
    Limit("structure", "<=", 0.48, "unknown", "atoms.left"),  # .5 less the root of 4 atoms in 10,000 samples
    Limit("inside", "<=", 2.0, "contradicted", "atoms.outside", speaks_of="none"),
    Limit("none_multiply", "<=", 1.0, "plausible", "atoms.multiplied", speaks_of="none"),
    Limit("none_in_all", "<=", 1.02, "plausible", _in_all_codes, speaks_of="none"),
]
_CHANCE = (2 * np.log(2 * K**2)) ** 0.5  # the largest |t| of all pairs of atoms
_EXACT_ATOMS = [
    *_ATOM_RULES,
    Limit("alone", ">=", 0.3, "plausible", "atoms.alone", speaks_of="one"),
    Limit("unrelated", "<=", 1.0, "plausible", "atoms.sign_related", _CHANCE + 1, speaks_of="one"),
    Limit("sparse", "<=", 0.6, "unknown", "atoms.theta", speaks_of="one"),
    Limit("on", ">=", 3.0, "unknown", "atoms.on", speaks_of="one"),
    Limit("apart", "<=", 0.35, "plausible", "atoms.together", speaks_of="one"),
    Limit("accurate", "<=", 0.05, "unknown", _blurred, speaks_of="one"),
    Limit("none_dense", "<=", 0.0005, "plausible", "atoms.dense", speaks_of="none"),
]
_NOISY_ATOMS = [
    *_ATOM_RULES,
    Limit("alone", ">=", 0.65, "plausible", "atoms.alone", speaks_of="one"),
    Limit("unrelated", "<=", 1.0, "plausible", "atoms.size_related", _CHANCE + 4, speaks_of="one"),
    Limit("sparse", "<=", 0.45, "unknown", "atoms.theta", speaks_of="one"),
    Limit("on", ">=", 15.0, "unknown", "atoms.on", speaks_of="one"),
    Limit("apart", "<=", 0.19, "plausible", "atoms.together", speaks_of="one"),
    Limit("accurate", "<=", 0.05, "unknown", _blurred, speaks_of="one"),
    Limit("none_missing", "<=", 1.5 + 4 * 0.02**0.5 / 10, "plausible", "atoms.spread", speaks_of="none"),
    Limit("none_dense", "<=", 0.005, "plausible", "atoms.dense", speaks_of="none"),
    Limit("none_tied", "<=", 5.0, "plausible", "atoms.tied", speaks_of="none"),
    Limit("met", "<=", 1.0, "plausible", "atoms.unmet", speaks_of="one"),
    Limit("doubts", "<=", 3.5, "plausible", _nearly_all, speaks_of="one"),
]
_STEP = Limit("least_squares", "<=", 0.05, "contradicted", "atoms.step", speaks_of="one", also="accurate")
_COMPLETE = [
    Limit("off", ">=", 2.5, "unknown", "atoms.off", K, speaks_of="one"),
    _STEP,
]
_ORTHOGONAL = [
    Limit("off", ">=", 1.2, "unknown", "atoms.off", K, speaks_of="one"),
]
# Of orthogonal atoms none is much better than the worst.
_SHARED_STEP = replace(_STEP, rest="unknown")
_CONE_RULES = [
    Limit("independent", "<=", 1e6, "contradicted", "shape.condition"),
    Limit("none_empty", "<=", 0.0, "contradicted", "shape.empty"),
    Limit("piled_up", "<=", 0.02, "plausible", "shape.negative_mass"),
    Limit("few_outliers", "<=", 0.1, "contradicted", "dropped", also="none_left_out"),
]
_LEFT_OUT = Limit("none_left_out", "<=", 0.01, "plausible", "dropped")
_EXACT_CONE_SHAPE = [
    *_CONE_RULES,
    Limit("n_eff", ">=", 9.0, "unknown", "shape.distinct"),
    Limit("signs", "<=", 0.05, "contradicted", "shape.negative_share"),
    Limit("span", ">=", 0.25, "unknown", "shape.span", 2**-0.5),
    Limit("pairs", ">=", 5.0, "unknown", "shape.pairs"),
    Limit("negative", "<=", 0.01, "unknown", "shape.negative", 1 / (2 * D)),
    # beyond it data have noise: other tests are asked
    Limit("residual", "<=", 0.01, "unknown", "residual", outside="cannot be checked"),
]
_ROOM = Limit("unique", "<=", 0.05, "plausible", "room", speaks_of="others")
_NOISY_CONE_RULES = [
    *_CONE_RULES,
    _LEFT_OUT,
    Limit("n_eff", ">=", 9.0, "unknown", "at_noise.distinct"),
    Limit("span_at_noise", ">=", 0.25, "unknown", "at_noise.span", 2**-0.5),
    Limit("pairs_at_noise", ">=", 5.0, "unknown", "at_noise.pairs"),
    Limit("halves", "<=", 0.03, "unknown", "halves", speaks_of="one"),  # the residual
    Limit("restarts", "<=", 0.02, "plausible", "restarts", speaks_of="one"),
    Limit("again", "<=", 0.03, "unknown", "again", speaks_of="one"),  # as of halves
    Limit("told_apart", "<=", 0.04, "plausible", "at_noise.mixed_up"),
    Limit("signs_of_noise", "<=", 1.3, "plausible", "excess", blank="unknown"),  # above 2 contradicted
    Limit("none_multiply", "<=", 4.0, "plausible", "multiplied"),
    Limit("no_constant", "<=", 3.5, "contradicted", "constant"),
    Limit("no_drift", "<=", 4.0, "plausible", "drifting"),
    Limit("noise_left", "<=", 1.1, "plausible", "structured"),
    Limit("uncut", "<=", 0.0, "contradicted", "cut"),
    Limit("none_lost", "<=", 0.001, "plausible", "lost"),
    _ROOM,
]
_HOLE_RULES = [
    Limit("fixed_by_entries", ">=", 1.5, "unknown", "holes.ratio"),
    Limit("every_feature", ">=", 6.0, "unknown", "holes.fewest"),
    Limit("samples_say_enough", "<=", 0.2, "unknown", "holes.poor"),
    Limit("completed", ">=", 1.0, "plausible", "holes.share"),
]
_FIXED = [
    Limit("identifiable", ">=", 0.01, "unknown", "rows.conditioning"),
]
_EXACT_ROWS = [
    *_FIXED,
    Limit("distinct", ">=", 1.5, "unknown", "rows.distinct", P),
    Limit("error", "<=", 0.075, "unknown", "rows.step"),
]
_REST_IS_NOISE = [
    *_FIXED,
    Limit("distinct", ">=", 3.0, "unknown", "rows.distinct", P),
    Limit("error", "<=", 0.075, "unknown", "rows.noise_error", 1 / 1.3),
    Limit("no_further_shape", "<=", 1.2, "contradicted", "rows.misfit.shape"),
    Limit("no_further_pattern", "<=", 5.0, "contradicted", "rows.misfit.pattern"),
    Limit("no_further_product", "<=", 1.45, "contradicted", "rows.misfit.product"),
    Limit("no_further_direction", "<=", 1.45, "contradicted", "rows.misfit.ridge"),
    Limit("no_further_rank", "<=", 1.5, "contradicted", "rows.misfit.rank"),
    Limit("no_further_step", "<=", 3.7, "plausible", "rows.misfit.steps"),
    Limit("centred", "<=", 4.0, "plausible", "rows.misfit.middle"),
    Limit("own_targets", "<=", 4.5, "plausible", "rows.misfit.neighbour"),
    Limit("sharp", "<=", 0.1, "unknown", "rows.misfit.unseen", 2.0),
    Limit("one_law", "<=", 0.05, "plausible", "rows.other_law"),
    Limit("no_hidden_law", "<=", 1.0, "unknown", "rows.hidden_law", 0.12),
    Limit("still", "<=", 1.0, "contradicted", "rows.drift"),
]
_NO_HIDDEN_CAUSE = [
    Limit("exact_features", "<=", 0.05, "plausible", "rows.attenuation"),
    Limit("no_hidden_cause", ">=", 0.15, "plausible", "rows.robustness"),
]
_COLUMNS = Limit("columns", ">=", float(D), "unknown", _dead_columns)
_ENOUGH = Limit("enough", ">=", 3.0, "unknown", "n_rows", P)
_FALLING = Limit("falling", "<=", 0.75, "unknown", "ratio")

# family, evidence with all good, its verdict, the limits that decide
LIMITS: dict[str, tuple[Any, Any, str, list[Limit]]] = {
    "complete dictionary": (DICTIONARY, dictionary(), "recovered", [
        *_EXACT_ATOMS, *_COMPLETE, Limit("distinct", ">=", 7.0, "unknown", "atoms.n_distinct", K),
    ]),
    "complete dictionary of signs": (DICTIONARY, dictionary(atoms=atoms(discrete=True)), "recovered", [
        *(limit for limit in _EXACT_ATOMS if limit.id not in ("sparse", "on")), *_COMPLETE,
        Limit("sparse", "<=", 0.55, "unknown", "atoms.theta", speaks_of="one"),
        Limit("on", ">=", 10.0, "unknown", "atoms.on", speaks_of="one"),
        Limit("distinct", ">=", 7.0, "unknown", "atoms.n_distinct", K),
    ]),
    "orthogonal dictionary": (DICTIONARY, dictionary(1), "recovered", [
        *_EXACT_ATOMS, *_ORTHOGONAL, _SHARED_STEP,
        Limit("distinct", ">=", 1.5, "unknown", "atoms.n_distinct", K),
    ]),
    "online dictionary": (DICTIONARY, dictionary(3), "recovered", [
        *_EXACT_ATOMS, *_COMPLETE, Limit("distinct", ">=", 7.0, "unknown", "atoms.n_distinct", K),
        Limit("settled", "<=", 0.0, "contradicted", "fit.unsettled"),
        Limit("unchanged", "<=", 0.0, "plausible", "changes", speaks_of="none"),
    ]),
    "noisy complete dictionary": (DICTIONARY, dictionary(atoms=atoms(0.1)), "recovered", [
        *_NOISY_ATOMS, *_COMPLETE, Limit("distinct", ">=", 14.0, "unknown", "atoms.n_distinct", K),
    ]),
    "noisy orthogonal dictionary": (DICTIONARY, dictionary(1, atoms=atoms(0.1)), "recovered", [
        *_NOISY_ATOMS, *_ORTHOGONAL, _SHARED_STEP,
        Limit("distinct", ">=", 3.0, "unknown", "atoms.n_distinct", K),
    ]),
    "noisy dictionary, repeated": (DICTIONARY, dictionary(atoms=atoms(0.1, by_chance=40.0)), "recovered", [
        *_NOISY_ATOMS, *_COMPLETE, Limit("distinct", ">=", 7.5, "unknown", "atoms.n_distinct", K),
    ]),
    "noisy dictionary, refitted": (DICTIONARY, dictionary(atoms=atoms(0.1), **REFITS), "recovered", [
        *_NOISY_ATOMS, *_COMPLETE, Limit("distinct", ">=", 14.0, "unknown", "atoms.n_distinct", K),
        Limit("halves", "<=", 0.2, "unknown", "halves", speaks_of="one"),
        Limit("restarts", "<=", 0.2, "plausible", "restarts", speaks_of="one"),
    ]),
    "exact dictionary, refitted": (DICTIONARY, dictionary(**REFITS), "recovered", [
        *_EXACT_ATOMS, *_COMPLETE, Limit("distinct", ">=", 7.0, "unknown", "atoms.n_distinct", K),
    ]),
    "cone": (NONNEGATIVE, cone(), "recovered", [
        *_EXACT_CONE_SHAPE, replace(_LEFT_OUT, speaks_of="none"), _ROOM,
    ]),
    "cone, nearly exact": (NONNEGATIVE, cone(residual=5e-3, **NEARLY_EXACT), "recovered", [
        *(limit for limit in _EXACT_CONE_SHAPE if limit.id != "negative"), _LEFT_OUT, _ROOM,
        # beyond it the little that is left over is noise: other tests are asked
        Limit("negative", "<=", 0.01, "unknown", "shape.negative", 1 / (2 * D), outside="cannot be checked"),
        Limit("no_constant", "<=", 3.5, "contradicted", "constant"),
        Limit("no_drift", "<=", 4.0, "plausible", "drifting"),
    ]),
    "cone with pure samples": (NONNEGATIVE, cone(pure=True, room=None), "recovered", [
        *_EXACT_CONE_SHAPE, replace(_LEFT_OUT, speaks_of="none"),
        Limit("pure", ">=", 3.0, "plausible", "shape.pure", speaks_of="one"),
    ]),
    "cone with holes": (NONNEGATIVE, cone(holes=HOLES), "recovered", [
        *_EXACT_CONE_SHAPE, replace(_LEFT_OUT, speaks_of="none"), _ROOM, *_HOLE_RULES,
    ]),
    "noisy cone, refitted": (NONNEGATIVE, cone(**NOISY_CONE), "recovered", [
        *_NOISY_CONE_RULES,
        Limit("straight", "<=", 3.0, "plausible", "curved"),
        Limit("curve_seen", "<=", 0.05, "unknown", "unseen", 0.2),
    ]),
    "noisy cone with pure samples": (NONNEGATIVE, cone(**NOISY_CONE, pure=True, room=None), "recovered", [
        *(limit for limit in _NOISY_CONE_RULES if limit.id != "unique"),
        Limit("straight", "<=", 3.0, "plausible", "curved"),
        Limit("curve_seen", "<=", 0.05, "unknown", "unseen", 0.2),
        Limit("pure", ">=", 3.0, "plausible", "at_noise.pure", speaks_of="one"),
        Limit("corners", "<=", 0.065, "plausible", "at_noise.slack", speaks_of="one"),
    ]),
    "noisy cone with pure samples, not refitted": (NONNEGATIVE, cone(**INFORMED), "recovered", [
        *(limit for limit in _NOISY_CONE_RULES if limit.id not in ("unique", "halves", "restarts", "again")),
        Limit("straight", "<=", 3.0, "plausible", "curved"),
        Limit("curve_seen", "<=", 0.05, "unknown", "unseen", 0.2),
        Limit("informed", "<=", 0.03, "unknown", "informed", speaks_of="one"),  # as of halves
        Limit("pure", ">=", 3.0, "plausible", "at_noise.pure", speaks_of="one"),
        Limit("corners", "<=", 0.065, "plausible", "at_noise.slack", speaks_of="one"),
    ]),
    "machine": (MACHINE, machine(looked_at(0.0)), "recovered", [*_EXACT_ROWS, _COLUMNS]),
    "noisy machine": (MACHINE, machine(looked_at(0.1)), "recovered", [
        *_REST_IS_NOISE, *_NO_HIDDEN_CAUSE, _COLUMNS,
    ]),
    "noisy machine, exogenous": (MACHINE, machine(looked_at(0.1), exogenous=True), "recovered", [
        *_REST_IS_NOISE, _COLUMNS,
    ]),
    "machine with a two-valued column": (
        MACHINE, machine(replace(looked_at(0.1), two_valued=10.0), exogenous=True), "recovered",
        [*_REST_IS_NOISE, _COLUMNS, Limit("two_valued", ">=", 5.0, "unknown", "rows.two_valued")],
    ),
    "machine of a stream": (MACHINE, machine(None), "plausible", [
        Limit("enough", ">=", 3.0, "unknown", "n_rows", 1 + 2 * D), _FALLING,
    ]),
    "sensing": (SENSING, sensing(measurements(0.0)), "recovered", [*_EXACT_ROWS, _ENOUGH]),
    "noisy sensing": (SENSING, sensing(measurements(0.1)), "recovered", [
        *_REST_IS_NOISE, *_NO_HIDDEN_CAUSE, _ENOUGH,
    ]),
    "noisy completion, exogenous": (COMPLETION, sensing(measurements(0.1), exogenous=True), "recovered", [
        *_REST_IS_NOISE, _ENOUGH,
    ]),
    "phases of a stream": (PHASE, sensing(None), "plausible", [_ENOUGH, _FALLING]),
    "sensing of a stream, refitted": (SENSING, sensing(None, halves=0.0), "plausible", [
        _ENOUGH, _FALLING, Limit("halves", "<=", 0.1, "unknown", "halves"),
    ]),
    "classifier, refitted": (CLASSIFIER, ClassifierEvidence(LENS, N, P, 50.0, 0.0), "plausible", [
        Limit("rows_per_parameter", ">=", 10.0, "unknown", "n_rows", P),
        Limit("classes_differ", ">=", 4.0, "contradicted", "gain"),
        Limit("halves", "<=", 0.3, "unknown", "halves"),
    ]),
    "approximate dictionary": (OVERCOMPLETE, stable_atoms(), "plausible", [
        Limit("structure", "<=", 0.5, "unknown", _sparser),
        Limit("halves", "<=", 0.05, "unknown", "sines", speaks_of="one"),
        Limit("use", ">=", 10.0, "unknown", "use", speaks_of="one"),
    ]),
}  # fmt: skip
