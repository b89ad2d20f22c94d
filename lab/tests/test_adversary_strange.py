"""The kinds that other hands thought out move the data as they say, and what they call true is true."""

import numpy as np
import pytest

from altmin_lab.adversary import cones, dictionaries, quadratics
from altmin_lab.adversary.kinds import FAMILIES, kinds
from altmin_lab.adversary.strange_dictionaries import STRANGE_DICTIONARIES
from altmin_lab.adversary.strange_laws import STRANGE_LAWS
from altmin_lab.adversary.strange_mixtures import STRANGE_MIXTURES

STRANGE = {"dictionaries": STRANGE_DICTIONARIES, "and": STRANGE_MIXTURES}
BASES = {"dictionaries": dictionaries.BASES, "and": cones.BASES}
RIGHT_LAWS = {"neighbours", "heavy features", "genotypes", "yes or no", "villages", "stormy noise",
              "far apart units", "far from zero"}  # fmt: skip
ALSO_TRUE = {"bad channel", "median filtered", "edited copies", "other zero", "halves apart", "largest kept",
             "lasting", "cleaned", "quadrature", "renamed", "two forms", "another panel", "bridged",
             "only in mixtures", "tide"}  # fmt: skip


def drafts(family, act, seed):
    """Of each base one without noise, as it is and changed."""
    for number, base in enumerate(BASES[family]):
        args = () if family == "and" else (number % 2 == 1,)
        before, after = (base.act(np.random.default_rng([seed, number]), *args) for _ in range(2))
        act(after)
        for draft in (before, after):
            draft.noise = draft.counts = 0.0
        yield base, before, after


def cases(families=STRANGE):
    return [pytest.param(f, part, id=f"{f}-{part.name}") for f in families for part in STRANGE[f]]


@pytest.mark.parametrize(("family", "part"), cases())
def test_what_is_wrong_is_not_slight_and_never_holds(family, part):
    for base, before, after in drafts(family, part.act, 0):
        assert after.sound or not after.holds
        assert len(after.factors) == after.codes.shape[1]
        assert (part.name in ALSO_TRUE) == (len(after.factors) > len(before.factors))
        assert (after.asked or len(after.factors)) == len(before.factors)
        if after.holds:
            continue
        old, new = before.data(), after.data()
        away = np.linalg.norm(new[:, : old.shape[1]] - old, axis=1)
        assert np.linalg.norm(away) > 0.01 * np.linalg.norm(old) or new.shape != old.shape, base.name
        touched = np.mean(away[np.any(old != 0, axis=1)] > 1e-9 * np.abs(old).max())
        assert touched > 0.05 or new.shape != old.shape or after.by_nature, base.name


RIGHT = [case for case in cases() if case.values[1].name in {
    "patients", "switches", "tailed noise", "crashes", "power law", "one or two", "pairs", "schools", "zipf",
    "own columns", "present", "related"}]  # fmt: skip


@pytest.mark.parametrize(("family", "part"), RIGHT)
def test_what_holds_is_a_sum_of_the_truth(family, part):
    for base, _, after in drafts(family, part.act, 2):
        X, sums = after.data(), after.codes @ after.factors
        assert after.holds and after.sound, base.name
        assert np.linalg.norm(X - sums) < 0.1 * np.linalg.norm(sums), base.name


@pytest.mark.parametrize("part", STRANGE_MIXTURES, ids=lambda part: part.name)
def test_counts_stay_whole(part):
    for number, base in enumerate(cones.BASES):
        draft = base.act(np.random.default_rng([4, number]))
        part.act(draft)
        X = draft.data()
        assert base.group != "counts" or (X.min() >= 0 and np.array_equal(X, np.round(X))), base.name


@pytest.mark.parametrize("part", STRANGE_MIXTURES, ids=lambda part: part.name)
def test_wrong_mixtures_lie_on_no_few_features_and_right_ones_do(part):
    right = any(part is case.values[1] for case in RIGHT)
    for _, before, after in drafts("and", part.act, 4):
        X = after.data()
        values = np.linalg.svd(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300), False, False)
        beyond = np.linalg.norm(values[len(before.factors) :]) / np.linalg.norm(values)
        assert beyond < 0.05 if right else beyond > 0.005, part.name


@pytest.mark.parametrize("part", STRANGE_LAWS, ids=lambda part: part.name)
@pytest.mark.parametrize("linear", [True, False])
def test_laws_are_quadratics_where_they_hold_and_none_elsewhere(part, linear):
    for number, base in enumerate(quadratics.BASES[:2]):  # without noise
        law = base.act(np.random.default_rng([5, number]), linear)
        part.act(law)
        X, y = law.data()
        assert law.sound or not law.holds
        assert not law.curved or (law.sound and law.exogenous)
        away = np.std(y - law.clean(X)) / np.std(law.clean(X)) if len(y) == len(law.X) else 1.0
        little = 0.3 if part.name in ("neighbours", "stormy noise") else 1e-8
        assert away < little if part.name in RIGHT_LAWS else away > 0.02, base.name
        assert part.name in RIGHT_LAWS or not law.holds


@pytest.mark.parametrize("name", ["censored", "tree", "thermostat", "network"])
def test_curves_have_a_closest_quadratic(name):
    law = quadratics.BASES[4].act(np.random.default_rng(6), True)
    next(part for part in STRANGE_LAWS if part.name == name).act(law)
    law.noise = 0.0
    X, y = law.data()
    w, M = quadratics.closest(law)
    assert np.var(y - X @ w - quadratics.quadratic(X, M)) < np.var(y - law.clean(X))


def test_all_of_them_only_judge_and_repeat_no_name():
    for family in FAMILIES:
        judged = {each.name for each in kinds(True, (family,))}
        tuned = {each.name for each in kinds(False, (family,))}
        strange = {"and": STRANGE_MIXTURES, "machine": STRANGE_LAWS, "sensing": STRANGE_LAWS}
        for part in strange.get(family, STRANGE_DICTIONARIES):
            assert any(name.endswith(f" x {part.name}") for name in judged)
        assert not judged & tuned
        assert len(judged) == sum(1 for _ in kinds(True, (family,)))
