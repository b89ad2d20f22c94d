"""The kinds of somebody who knew no rule move the data as they say, and what they call true is true."""

import warnings

import numpy as np
import pytest

from altmin_lab.adversary import cones, dictionaries, quadratics
from altmin_lab.adversary.kinds import FAMILIES, Kind, kinds
from altmin_lab.adversary.unforeseen_dictionaries import UNFORESEEN_DICTIONARIES
from altmin_lab.adversary.unforeseen_laws import UNFORESEEN_LAWS
from altmin_lab.adversary.unforeseen_mixtures import UNFORESEEN_MIXTURES

PARTS = {
    "complete": (dictionaries.BASES, UNFORESEEN_DICTIONARIES),
    "orthogonal": (dictionaries.BASES, UNFORESEEN_DICTIONARIES),
    "and": (cones.BASES, UNFORESEEN_MIXTURES),
    "machine": (quadratics.BASES, UNFORESEEN_LAWS),
    "sensing": (quadratics.BASES, UNFORESEEN_LAWS),
}
RIGHT = {
    "complete": {"cross talk", "standardised", "whitened", "units of their own", "inverted features",
                 "doublets", "microstates", "ducking", "coloured noise", "weighted rows", "programmes",
                 "seasonal use", "bridged samples", "last sample again", "shared budget", "one of each"},
    "and": {"doublets", "inverse frequencies", "denoised", "peaks", "none below a tenth", "bleaching",
            "matrix effect", "bridged samples", "hypermutated", "studies", "weighted rows", "water peak",
            "coloured noise", "two sorts", "ladders", "titration"},
    "machine": {"idle feature", "constant feature", "principal components", "asked by features",
                "watched until failure", "measured again", "hidden helper", "evenly spread",
                "two sorts of rows", "mostly zero", "shared shocks", "own season", "lasting target"},
}  # fmt: skip
RIGHT["orthogonal"] = RIGHT["complete"] - {"cross talk", "standardised", "whitened", "units of their own"}
RIGHT["sensing"] = RIGHT["machine"] | {"shares of a whole", "on a sphere"}
UNTOLD = {"dropped level", "total column", "shares of a whole", "on a sphere", "two settings",
          "few settings tried"}  # fmt: skip
ADDS = {"hidden helper", "shared shocks", "own season", "lasting target"}  # to the target, as noise does


def draft(family, base, seed):
    """Of a base, without noise."""
    return base.act(
        np.random.default_rng(seed), *{"and": ()}.get(family, (family in ("machine", "orthogonal"),))
    )


def cases(*families):
    return [pytest.param(f, part, id=f"{f}-{part.name}") for f in families for part in PARTS[f][1]]


def pairs(family, part, seed=0):
    """Of each base a draft as it is and one changed, both without noise."""
    for number, base in enumerate(PARTS[family][0]):
        before, after = (draft(family, base, [seed, number]) for _ in range(2))
        part.act(after)
        for one in (before, after):
            one.noise = one.counts = 0.0
        yield base, before, after


def holds(family, after):
    return after.holds and (family != "and" or cones.pure(after.codes))


@pytest.mark.parametrize(("family", "part"), cases("complete", "orthogonal", "and"))
def test_samples_are_changed_and_right_where_they_hold(family, part):
    for base, before, after in pairs(family, part):
        old, new = before.data(), after.data()
        assert len(after.factors) == after.codes.shape[1], base.name
        assert after.sound or not after.holds
        assert np.isfinite(new).all()
        moved = 1.0 if new.shape != old.shape else np.linalg.norm(new - old) / np.linalg.norm(old)
        assert moved > 1e-3 or part.name == "denoised", base.name  # which acts on noise alone
        if after.holds:
            sums = after.codes @ after.factors
            assert np.linalg.norm(new - sums) < 0.1 * np.linalg.norm(sums), base.name
        elif new.shape == old.shape:
            assert moved > 0.03, base.name
            away = np.linalg.norm(new - old, axis=1)
            touched = np.mean(away[np.any(old != 0, axis=1)] > 1e-9 * np.abs(old).max())
            assert touched > 0.03 or after.by_nature, base.name


@pytest.mark.parametrize("name", sorted(RIGHT["and"] - {"denoised"}))
def test_counts_that_are_right_stay_whole(name):
    part = next(part for part in UNFORESEEN_MIXTURES if part.name == name)
    for number, base in enumerate(cones.BASES):
        after = draft("and", base, [4, number])
        part.act(after)
        X = after.data()
        assert base.group != "counts" or (X.min() >= 0 and np.array_equal(X, np.round(X))), base.name


@pytest.mark.parametrize("family", ["complete", "orthogonal", "and"])
def test_those_that_hold_are_known_by_name(family):
    found = {
        part.name
        for part in PARTS[family][1]
        for seed in range(3)
        if holds(family, next(a for b, _, a in pairs(family, part, seed) if b is PARTS[family][0][1]))
    }
    assert found - {"index hopping"} == RIGHT[family]  # which leaves some samples as pure as they were


@pytest.mark.parametrize(("family", "parts"), [
    ("and", UNFORESEEN_MIXTURES), ("complete", UNFORESEEN_DICTIONARIES),
])  # fmt: skip
def test_what_is_left_out_was_there(family, parts):
    incomplete = 0
    for part in parts:
        for base, before, after in pairs(family, part, 1):
            if len(after.factors) > len(before.factors):
                incomplete += 1
                assert not after.sound
                assert after.asked == len(before.factors)
                assert np.any(after.codes[:, after.asked :]), (part.name, base.name)
    assert incomplete > 10


@pytest.mark.parametrize(("family", "part"), cases("machine", "sensing"))
def test_targets_are_quadratics_where_they_hold_and_none_elsewhere(family, part):
    for base, before, after in pairs(family, part):
        X, y = after.data()
        assert np.isfinite(X).all() and np.isfinite(y).all()
        assert after.sound or not after.holds
        assert after.holds == (part.name in RIGHT[family])
        assert not (after.curved and after.seen is None) or after.exogenous
        away = np.std(y - after.clean(X)) / np.std(after.clean(X))
        if after.holds or part.name in UNTOLD:
            assert away < (0.8 if part.name in ADDS or base.group == "noisy" else 1e-8), base.name
        else:
            assert away > 0.02, base.name
        if part.name == "principal components":  # other features, the same target
            np.testing.assert_allclose(after.clean(), before.clean())
        assert (
            X.shape != before.X.shape or not np.allclose(X, before.X) or not np.allclose(y, before.data()[1])
        )


@pytest.mark.parametrize("name", sorted(UNTOLD))
def test_what_a_machine_cannot_tell_leaves_it_a_choice(name):
    part = next(part for part in UNFORESEEN_LAWS if part.name == name)
    for _, _, law in pairs("machine", part):
        X = law.X / np.abs(law.X).max()
        first, second = np.triu_indices(X.shape[1])
        design = np.column_stack([np.ones(len(X)), X, X[:, first] * X[:, second]])
        assert np.linalg.matrix_rank(design, tol=1e-9 * np.linalg.norm(design)) < design.shape[1]


@pytest.mark.parametrize("linear", [True, False])
def test_more_rows_are_drawn_by_the_same_law(linear):
    curved = 0
    for part in UNFORESEEN_LAWS:
        law = quadratics.BASES[4].act(np.random.default_rng(7), linear)
        part.act(law)
        if law.curved:
            curved += 1
            more = law.draw(np.random.default_rng(8), 20_000)
            assert law.target(more, law.clean(more)).shape == (20_000,), part.name
            assert more.mean(axis=0) == pytest.approx(law.X.mean(axis=0), abs=0.2), part.name
            assert more.std(axis=0) == pytest.approx(law.X.std(axis=0), abs=0.2), part.name
    assert curved > 5


@pytest.mark.parametrize(("family", "part"), [
    case for case in cases(*PARTS) if case.values[1].name in RIGHT[case.values[0]]
])  # fmt: skip
def test_what_is_right_is_found(family, part):
    kind = Kind(family, PARTS[family][0][1 if family == "and" else 0], part)
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(2):
            trial = kind.trial(0, number)
            errors.append(trial.error(trial.model.fit(*trial.data)))
    assert min(errors) < 0.05


@pytest.mark.parametrize("family", FAMILIES)
def test_all_of_them_judge_and_repeat_no_name(family):
    judged, tuned = ([each.name for each in kinds(side, (family,))] for side in (True, False))
    assert len(judged) == len(set(judged))
    assert not set(judged) & set(tuned)
    names = {name.split(" x ")[1] for name in judged}
    mine = PARTS["complete" if family == "online" else family][1]
    assert {part.name for part in mine if part.held_out} <= names
    assert len([part for part in mine if part.held_out]) >= len(mine) - 1
