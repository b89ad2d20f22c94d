"""Whether orthogonal, complete and online dictionary learning found the true atoms.

The theorems' own conditions (Liang, Zhang, Fattahi and Zhang 2022, Theorems 1-3: theta, p theta^2 / n, the
condition number, the gap) are shown, but no single one of them separates right fits from wrong ones. The
verdict rests on what samples say about each atom (:mod:`altmin.guarantees.dictionary_atoms`): with exact
zeros where the data have no noise, with codes down to the noise where they have. That nothing is missing is
a question of its own: all atoms can be right and the dictionary be half of the true one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2

from altmin.guarantees.contract import Family, Rule, Table, Test, each, shown, whole
from altmin.guarantees.dictionary_atoms import AtomFacts
from altmin.guarantees.dictionary_doubts import doubts
from altmin.guarantees.dictionary_theory import DictionaryEvidence, theorem_conditions
from altmin.io.records import record

_ATOM = (
    "sparse",
    "on",
    "off",
    "span",
    "apart",
    "alone",
    "unrelated",
    "three",
    "mixed",
    "lines",
    "several",
    "one_direction",
    "unchanging",
    "still",
    "least_squares",
    "accurate",
)
_WHOLE = (
    "distinct",
    "structure",
    "straight",
    "no_lean",
    "none_changing",
    "none_bent",
    "uncut",
    "fine",
    "judged",
    "none_missing",
    "none_dense",
    "none_tied",
    "none_multiply",
    "none_in_all",
    "inside",
)
_FULL = ("halves", "restarts")
_SUGGESTED = ("none_missing", "none_tied")
_NOISY = ("met", "doubts")
_BOUND = 2.5  # standard errors
_SEEN = (10, 15)  # samples, without noise and with it, in which tests of something rare have power
_TIED, _DENSE = 5.0, 0.005  # standard deviations; share of the samples
_SEVERAL = 1.02  # one doubt that is just no reason to object, and hardly any other
_LEAN = 3.5  # deviations of chance
_DOUBTS, _OF_MANY = 3.5, 0.5  # one right fit of ten has more; with many atoms the worst has more
_AS_MANY, _PATTERNS = 0.75, 2.0  # of the different samples of independent codes; patterns for each atom
_HALF = 0.499  # of the atoms: where as many are doubtful as aren't, the others are mixtures of those
_FEW_DENSE, _RARE = (
    2.5,
    (0.0005, 0.003),
)  # samples without any zero that may be outliers
_CODES = 1.03  # times larger than least squares says, as small codes are missed
_FOLLOWED = 1.1  # the same where a stream is followed


@record
class AtomsEvidence:
    """What a report of a dictionary rests on.

    Parameters
    ----------
    fit : DictionaryEvidence
        What the fit knows about itself, for the theorems' conditions.
    atoms : AtomFacts or None
        What samples say about each atom; None where none could be read again.
    halves, restarts : ndarray of shape (n_components,) or None
        Sine of each atom to its match in fits of two halves, and from another start: full effort.
    changes : int
        How often the dictionary of a stream changed before the samples that were looked at.
    theory : list of Condition or None
        The theorems' conditions, where they were looked at beside the atoms; None: they follow from ``fit``.
    """

    fit: DictionaryEvidence
    atoms: AtomFacts | None
    halves: Any = None
    restarts: Any = None
    changes: int = 0
    theory: Any = None


def estimated(e: AtomsEvidence) -> tuple[Any, Any]:
    """Error of each atom, and what it stays below in nine of ten cases."""
    a = e.atoms
    assert a is not None
    if a.noise == 0:
        rounding = np.full(len(a.theta), max(1e-6, 1e3 * float(np.finfo(e.fit.components.dtype).eps)))
        return np.maximum(a.step, rounding), np.maximum(a.step, rounding)
    off, se = _off(e)
    return np.hypot(off, se), off + se * np.sqrt(chi2.ppf(0.9, a.ways) / a.ways)


def _off(e: AtomsEvidence) -> tuple[Any, Any]:
    """How far each atom is from the best one, beyond noise, and the standard error of that.

    Codes that belong to an atom that is off lean towards it, so least squares goes about half of the way.
    Orthogonal atoms have half of the freedom of others, and no reason to be where free ones would; what turns
    one of them turns another by as much, so that none is much better than the worst.
    """
    a = e.atoms
    assert a is not None
    if e.fit.theorem == 1:
        off = 2 * np.maximum(a.step - 1.2 * a.se, 0.0)
        return np.maximum(off, 0.5 * np.nanmax(off, initial=0.0)), _CODES * a.turn
    return 2 * np.maximum(a.step - 0.5 * a.se, 0.0), (_FOLLOWED if e.fit.theorem == 3 else _CODES) * a.se


def tests(e: AtomsEvidence) -> list[Test]:
    """Each atom, then the whole, then the theorems."""
    theory = shown(*(theorem_conditions(e.fit) if e.theory is None else e.theory))
    if e.atoms is None:
        return theory
    found = [*_use_tests(e), *_shape_tests(e)]
    allows = np.array([test.allows for test in found if test.allows is not None])
    doubtful = float(np.any(allows != "recovered", axis=0).mean())
    unknown = float(np.any(allows == "unknown", axis=0).mean())
    judged = whole(
        "most atoms pass", "share that doesn't", max(doubtful, 1.5 * unknown), at_most=_HALF, id="judged",
        meaning="Share of the atoms against which something stands (one that can't be judged counts half as "
        "much again). Where it is large, the others may be mixtures of those.",
    )  # fmt: skip
    return [*found, *_doubt_tests(e), *_refit_tests(e), judged, *_whole_tests(e), *theory]


def _use_tests(e: AtomsEvidence) -> list[Test]:
    """Whether samples with and without an atom are many enough to fix it."""
    a = e.atoms
    assert a is not None
    k, orthogonal, clean = len(a.theta), e.fit.theorem == 1, a.noise == 0
    dense = 0.45 if not clean else 0.55 if a.discrete else 0.6  # sums of +-1 codes are sparse, too
    on = 15 if not clean else 10 if a.discrete else 3  # few +-1 codes are those of mixtures, too
    distinct = (1.5 if orthogonal else 7.0) * (1 if clean else 2)  # noise hides some copies
    distinct = min(distinct, max(_AS_MANY * a.by_chance / k, _PATTERNS))
    return [
        each("atoms are used sparsely", "use", a.theta, at_most=dense, id="sparse",
             against="used in most samples",
             meaning="Share of the samples that use an atom. An atom that is nearly always there can't be "
             "told from its mixtures with others."),
        each("enough samples use each atom", "samples", a.on, at_least=on, id="on",
             against="too few samples with it", meaning="Distinct samples that use the atom."),
        each("enough samples lack each atom", "samples / atoms", a.off / k,
             at_least=1.2 if orthogonal else 2.5,
             id="off", against="too few samples without it",
             meaning="Distinct samples without the atom, over the number of atoms: they fix its direction."),
        each("samples that lack an atom fix it", "span", a.span, at_least=0.2, id="span",
             against="the samples without it don't determine it",
             meaning="How evenly the samples without an atom span all other directions (1: evenly)."),
        whole("enough samples are distinct", "samples / atoms", a.n_distinct / k, at_least=distinct,
              id="distinct",
              meaning="Distinct samples, over the number of atoms: copies carry no information, and with few "
              "samples several dictionaries are sparse. Codes of few sizes repeat their patterns: then it is "
              "enough to have about as many as independent uses of these codes make."),
    ]  # fmt: skip


def _shape_tests(e: AtomsEvidence) -> list[Test]:
    """Whether the samples with an atom speak for that atom and no other direction."""
    a = e.atoms
    assert a is not None
    clean, n, k = a.noise == 0, max(a.n_samples, 1), len(a.theta)
    off, se = _off(e)
    apart = 0.35 if clean else 0.15 + 4 / np.sqrt(n)
    related = _related(a)
    return [
        each("atoms are used independently", "phi", a.together, id="apart", otherwise="plausible",
             at_most=apart,
             against="used together with another atom",
             meaning="Largest correlation of two atoms' uses. Atoms that come together are known only "
             "as a pair: mixtures of the two may be the truth."),
        each("each atom occurs without each other one", "alone", np.broadcast_to(a.alone, k), id="alone",
             at_least=0.3 if clean else 0.65, otherwise="plausible",
             against="hardly ever there without another atom",
             meaning="How well the samples without another atom show this one (1: as well as all). An atom "
             "that comes only with another one may be any mixture of the two."),
        each("codes of two atoms don't depend on each other", "|t| / chance",
             related, at_most=1.0, id="unrelated", otherwise="plausible",
             against="its codes follow another atom's",
             meaning="Whether size and sign of an atom's code depend on another atom. Those of mixtures do."),
        each("no three atoms keep together", "over chance", np.broadcast_to(a.three, k), at_most=1.0,
             id="three", otherwise="plausible", against="it keeps together with two others",
             meaning="Whether an atom is there with two others far more, or far less, often than with either "
             "of them: mixtures of the three may be what made the samples."),
        each("no atom is one feature, cut at zero", "cut features", np.broadcast_to(a.bare, k), at_most=0.0,
             id="mixed", otherwise="plausible", against="a single feature that is never negative",
             meaning="1 for an atom that is a single feature whose values have one sign. Features of which "
             "one side was lost are sparse by themselves, whatever made them."),
        each("no mixture of two atoms is sparser", "over chance", a.line, at_most=1.0, id="lines",
             otherwise="plausible", against="a mixture with another atom is sparser",
             meaning="How many more samples than by chance use two atoms in one fixed proportion: then a "
             "mixture of the two is sparser than the atoms themselves."),
        each("an atom isn't doubtful in several ways", "sum of squares",
             (np.maximum(a.together, 0.0) / apart) ** 2 + a.line**2 + related**2, at_most=_SEVERAL,
             id="several", otherwise="plausible", against="doubtful in several ways",
             meaning="Three signs of a mixture (used together, codes that follow each other, one fixed "
             "proportion) added up: a mixture that no one of them shows leaves something in all."),
        each("samples with an atom share one direction", "second", a.second, at_most=1.0, id="one_direction",
             otherwise="plausible", against="its samples point in two directions",
             meaning="What samples with an atom hold besides it has a direction of its own: two atoms were "
             "taken for one, or the atom looks another way in some samples."),
        each("an atom looks the same in all samples", "deviations", np.broadcast_to(a.follows, k),
             at_most=1.0, id="unchanging", otherwise="plausible", against="it changes with its samples",
             meaning="How far what samples with an atom hold besides it follows the sign or size of its "
             "code, time, or other atoms, over what noise explains: then it isn't one atom in all of them."),
        each("early and late samples agree", "drift", a.drift, at_most=1.0, id="still",
             otherwise="contradicted", against="it moved between early and late samples",
             meaning="Angle between the atoms of early and late samples, over what noise explains."),
        each("least squares agrees", "step", a.step - 2 * a.se, at_most=0.05, id="least_squares",
             otherwise="contradicted", against="least squares puts it elsewhere",
             meaning="Angle to the atom that least squares gives for the same codes, beyond noise; large "
             "where atoms were fitted as orthogonal and aren't."),
        each("atoms are accurate", "error bound", off + _BOUND * se, at_most=0.05, id="accurate",
             against="noise blurs it",
             meaning="Angle that noise leaves open, in radians. More samples make it smaller."),
    ]  # fmt: skip


def _related(a: AtomFacts) -> Any:
    """How far each atom's codes and another one's depend on each other, over what is no chance."""
    k = len(a.theta)
    by_chance = float(np.sqrt(2 * np.log(2 * k * k)))  # the largest of so many |t|
    return np.maximum(a.size_related, a.sign_related) / (by_chance + (1 if a.noise == 0 else 4)) * np.ones(k)


def _doubt_tests(e: AtomsEvidence) -> list[Test]:
    """With noise, whether atoms that are on or off meet, and whether too many tests hold by little."""
    a = e.atoms
    assert a is not None
    if a.noise == 0:
        return []
    return [
        each("atoms that are on or off meet", "over most allowed", np.broadcast_to(a.unmet, len(a.theta)),
             at_most=1.0, id="met", otherwise="plausible", against="never there with a certain other atom",
             meaning="Samples that would show that two atoms meet, over those with both. Two atoms with "
             "codes of one size that never meet may be one atom, with and without another one."),
        each("doubts of all sorts don't add up", "doubts",
             doubts(a, _related(a), e.fit.components.shape[1]), id="doubts",
             at_most=_DOUBTS + _OF_MANY * float(np.log(max(len(a.theta) / 6, 1.0))),
             otherwise="plausible", against="many tests hold by little",
             meaning="All signs of another model added up, each over what one right fit in fifty has. With "
             "noise, samples of another model may pass each test, but hardly all of them easily."),
    ]  # fmt: skip


def _refit_tests(e: AtomsEvidence) -> list[Test]:
    if e.halves is None:
        return []
    return [
        each("fits on halves agree", "halves", e.halves, at_most=0.2, id="halves",
             against="half of the samples lead elsewhere",
             meaning="Largest sine between an atom and that of a fit on half of the samples."),
        each("another start agrees", "restarts", e.restarts, at_most=0.2, id="restarts",
             otherwise="plausible", against="another start leads elsewhere",
             meaning="Largest sine between an atom and that of a fit from another start."),
    ]  # fmt: skip


def _whole_tests(e: AtomsEvidence) -> list[Test]:
    """Whether the data are sparse at all, and whether the dictionary is the whole of it."""
    a = e.atoms
    assert a is not None
    k, n, clean = len(a.theta), max(a.n_samples, 1), a.noise == 0
    settled = whole(
        "the last rows fit the dictionary", "unsettled blocks", float(e.fit.unsettled), at_most=0,
        id="settled", otherwise="contradicted",
        meaning="A stream whose last blocks don't fit has another dictionary now.",
    )  # fmt: skip
    unchanged = whole(
        "one dictionary made all samples", "changes", float(e.changes), at_most=0,
        id="unchanged", everywhere=False, otherwise="plausible",
        meaning="Changes of the dictionary that the fit has seen. After one these are the atoms of samples "
        "since then, not of those before.",
    )  # fmt: skip
    found = [
        whole("samples are sums", "|t|", a.curved, at_most=4.0, id="straight", otherwise="contradicted",
              meaning="What is left over follows squares or cubes of the fitted values: features saturate or "
              "are distorted in another way."),
        whole("what is left over doesn't lean to one side", "|t|", a.lean, at_most=_LEAN, id="no_lean",
              otherwise="plausible",
              meaning="Noise is as often positive as negative. Where a feature is the larger of two values, "
              "or is known without its sign, more is left over on one side."),
        whole("what is left over follows nothing", "deviations", max(a.all_follow, a.hum), at_most=1.0,
              id="none_changing", otherwise="plausible",
              meaning="How far what samples hold besides their atoms follows codes, time, or other atoms, in "
              "all atoms together, over what noise explains: gains that change do that to all a little. A "
              "hum of one frequency counts, too."),
        whole("each feature is a sum", "deviations", a.bends, at_most=1.0, id="none_bent",
              otherwise="plausible",
              meaning="How far what is left over in a feature follows its fitted values, over what noise "
              "explains: it saturates, or loses small values, or those of one sign."),
        whole("values aren't cut at a level", "share", a.cut, at_most=0.0, id="uncut",
              otherwise="contradicted",
              meaning="Share of the entries that are piled up at an end of the values: what was beyond is "
              "lost."),
        whole("values aren't rounded coarsely", "step", a.grid, at_most=0.25, id="fine",
              otherwise="plausible",
              meaning="Distance of neighbouring values, over the root mean square of all; rounding to a "
              "coarse grid moves atoms."),
        whole("codes are sparser than Gaussian ones", "left over", a.left,
              at_most=max(0.5 - float(np.sqrt(k / n)), 0.0), id="structure",
              meaning="What the codes leave over, over what the largest codes of Gaussian data leave."),
        whole("nothing is missing: samples use about as many atoms", "spread of counts", a.spread,
              at_most=(1.35 if clean else 1.5) + 4 * float(np.sqrt(2 / n)), id="none_missing",
              everywhere=False, otherwise="contradicted" if a.spread > 3 else "plausible",
              meaning="Variance of the number of atoms in a sample, over that of independent uses. Samples "
              "that need far more atoms than the others may be made of atoms that are missing."),
        whole("nothing is missing: no sample needs too many atoms", "dense samples", a.dense,
              at_most=float(np.clip(_FEW_DENSE / n, *_RARE)) if clean else _DENSE, id="none_dense",
              everywhere=False, otherwise="contradicted" if a.dense > 0.05 else "plausible",
              meaning="Share of the samples that use more atoms than independent uses explain."),
        whole("nothing is missing: signs of codes don't go together", "beyond chance", a.tied, at_most=_TIED,
              id="none_tied", everywhere=False, otherwise="plausible",
              meaning="How far the signs of all pairs of codes depend on each other, in standard deviations. "
              "Samples with a missing atom are made of the same codes with the same signs each time."),
        whole("nothing is missing: atoms don't multiply", "over chance", a.multiplied, at_most=1.0,
              id="none_multiply", everywhere=False, otherwise="plausible",
              meaning="How far other codes follow the product of two, over what chance explains: two atoms "
              "that occur together may leave a trace of their own."),
        whole("nothing is missing: little doubts don't add up", "sum of squares",
              float(a.multiplied**2 + np.max(a.three) ** 2
                    + (0.0 if clean else max(a.tied / _TIED, 0.0) ** 2 + (a.dense / _DENSE) ** 2)),
              at_most=_SEVERAL, id="none_in_all", everywhere=False, otherwise="plausible",
              meaning="Signs of a missing atom (codes whose signs go together, products, three atoms that "
              "keep together) added up: one that is rare leaves something in all."),
        whole("nothing is missing: nothing lies outside", "outside", a.outside, at_most=2.0, id="inside",
              everywhere=False, otherwise="contradicted",
              meaning="What samples hold that no mixture of the atoms gives, over what noise would leave "
              "there."),
    ]  # fmt: skip
    return [*found, settled, unchanged] if e.fit.theorem == 3 else found


def rule(e: AtomsEvidence) -> Rule:
    """All tests decide; the last rows of a stream and refits where there are any."""
    needs: tuple[str, ...] = (*_ATOM, *_WHOLE)
    if e.fit.theorem == 3:
        needs = (*needs, "settled", "unchanged")
    exact = e.atoms is not None and e.atoms.noise == 0
    # zeros prove of each sample what the law of their number only suggests of all
    needs = tuple(name for name in needs if name not in _SUGGESTED) if exact else (*needs, *_NOISY)
    if e.halves is not None and not exact:  # exact zeros prove more than fits to fewer samples
        needs = (*needs, *_FULL)
    return Rule("exact" if exact else "noisy", needs)


def claim(e: AtomsEvidence) -> str:
    """What is claimed, and what can't be seen."""
    text = "These are the atoms that made the samples, up to order, sign and scale."
    if e.atoms is None:
        return text
    noise = e.atoms.noise
    share = max(0.01, 0.5 * noise) if noise > 0 else 0.003
    rare = 100 * max(share, _SEEN[noise > 0] / max(e.atoms.n_samples, 1))
    close = f", and atoms closer than {max(0.08, 2 * noise):.2g} rad," if noise > 0 else ""
    return f"{text} What occurs in fewer than {rare:.2g} % of the samples{close} would not be seen."


def error(e: AtomsEvidence) -> float | None:
    """Of the worst atom."""
    found = np.empty(0) if e.atoms is None else estimated(e)[0]
    return None if np.isnan(found).all() else float(np.nanmax(found))


def table(e: AtomsEvidence) -> Table | None:
    """Error, bound and samples of each atom."""
    if e.atoms is None:
        return None
    return Table(*estimated(e), np.asarray(e.atoms.on))


DICTIONARY = Family(
    claim=claim,
    tests=tests,
    rule=rule,
    error=error,
    table=table,
    assumptions=lambda e: (
        "Each sample is a sum of few atoms, chosen about independently of each other.",
        "Features are measured on a linear scale.",
    ),
    advice={
        "sparse": "most samples use these atoms: the codes aren't sparse enough to confirm them",
        "on": "some atoms are too rare: more samples",
        "off": "codes vanish in too few different samples: more samples",
        "span": "codes vanish in too few different samples: more samples",
        "distinct": "more samples that aren't copies of each other",
        "apart": "some atoms occur together, so mixtures of them fit as well: samples with one of them alone "
        "would tell",
        "alone": "some atoms occur only with another one: samples without that one would tell",
        "met": "some atoms are never there together: one may be the sum of the other and a third one",
        "unrelated": "codes of some atoms follow those of others: mixtures of the two may be the truth",
        "mixed": "some atoms are single features with many zeros: if one side of their values was lost, the "
        "zeros say nothing",
        "uncut": "values were cut at a level: leave out samples or features that reach it",
        "fine": "values are rounded too coarsely: keep more digits",
        "three": "some atoms keep together: samples with two of them and without the third one would tell",
        "several": "some atoms may be mixtures of two: more samples",
        "doubts": "no test rejects the atoms, but several have doubts: more samples, or less noise",
        "lines": "two atoms are mixed up: more samples, or another random_state",
        "one_direction": "some components merge two atoms, or look another way in some samples: try a larger "
        "n_components",
        "unchanging": "some atoms change with their codes, with time or with other atoms: fit the samples in "
        "which they look the same separately",
        "none_changing": "features or gains change with the samples: bring all samples to the same scale",
        "none_bent": "a feature isn't on a linear scale: undo what distorts it, or leave it out",
        "still": "the data changed on the way: fit early and late samples separately, or use "
        "OnlineDictionaryLearning",
        "straight": "samples aren't sums of atoms: undo what saturates or distorts the features",
        "no_lean": "noise or features are lopsided: look at features of which more is left over on one side",
        "least_squares": "atoms don't fit their codes: CompleteDictionaryLearning needs no orthogonality",
        "accurate": "noise blurs the atoms: more samples",
        "judged": "too few atoms pass to believe the others: more samples, or another n_components",
        "structure": "codes are hardly sparser than noise: no sparse dictionary is seen",
        "none_missing": "some samples need many more atoms: atoms may be missing (a larger n_components, or "
        "ApproximateDictionaryLearning for more atoms than features)",
        "none_dense": "some samples need many atoms: they are outliers, or atoms are missing (a larger "
        "n_components, or ApproximateDictionaryLearning for more atoms than features), or the data changed "
        "on the way (then judge early and late samples separately)",
        "none_tied": "codes go together as those of a missing atom do, or noise isn't the same for all "
        "features: a larger n_components, or features in units of their noise",
        "none_multiply": "two atoms leave a trace of their own where both occur: samples aren't sums",
        "none_in_all": "an atom may be missing: more samples, or a larger n_components",
        "inside": "samples hold something that no mixture of the atoms gives: a larger n_components",
        "settled": "the stream changed: wait for more samples",
        "unchanged": "the stream changed, and these are the atoms since then: guarantee(X) with the samples "
        "since then judges these alone",
        "halves": "fits on halves disagree: more samples",
        "restarts": "another start leads elsewhere: more samples, or a larger n_restarts",
    },
    closer="guarantee(X, effort='full') also fits halves of the samples, and compares",
    otherwise="more samples",
)
