"""Perturbations of dictionaries: codes of few values and copies of samples; right ones, and more wrong ones.

Where codes are on or off there are few different samples, whether all are independent or few were copied.
"""

from __future__ import annotations

import numpy as np

from altmin_lab.adversary import changes, dictionaries, later_changes
from altmin_lab.adversary.changes import made, missing, some, unit
from altmin_lab.adversary.compose import Array, Draft, Part, between, whole

WRONG = (
    dictionaries.union, dictionaries.two_missing, dictionaries.slightly_turned, dictionaries.missing_mixture,
    dictionaries.negated, dictionaries.replaced, dictionaries.products, changes.misjoined,
    changes.dead_features, changes.twins, changes.missing_plane, changes.any_two, changes.jittered,
    changes.louder_half, changes.triple, changes.chain, changes.mutual, changes.covered, changes.largest_wins,
    changes.rare_and_large, changes.often_and_small, changes.crossed_features, changes.other_units,
    later_changes.crowd, later_changes.blurred_rows,
)  # fmt: skip


def something_wrong(d: Draft) -> None:
    """One of many things that are wrong of any codes."""
    WRONG[int(d.rng.integers(len(WRONG)))](d)


def _switched(d: Draft) -> Array:
    """Codes that are on or off, each atom with a size of its own."""
    return np.asarray((d.codes != 0) * d.rng.uniform(0.6, 1.8, d.codes.shape[1]))


# --- data that are right


def toggles(d: Draft) -> None:
    """Atoms are on or off, each with a size of its own."""
    d.codes = _switched(d)


def toggles_often_and_rare(d: Draft) -> None:
    """Atoms are on or off, each as often as it likes."""
    on = d.rng.random(d.codes.shape) < d.rng.uniform(0.08, 0.4, d.codes.shape[1])
    d.codes = on.astype(float)


def half_and_full(d: Draft) -> None:
    """Atoms are off, half on, or on."""
    d.codes = (d.codes != 0) * d.rng.choice([0.5, 1.0], d.codes.shape)


def signed_toggles(d: Draft) -> None:
    """Atoms are on, off or reversed, each with a size of its own."""
    d.codes = _switched(d) * d.rng.choice([-1.0, 1.0], d.codes.shape)


# --- data that aren't


def few_patterns(d: Draft) -> None:
    """Codes are on or off, in a few patterns only, some of which are frequent."""
    d.holds = False
    k = len(d.factors)
    few = _switched(d)[: whole(d.rng, k, 4 * k)]
    d.codes = few[d.rng.choice(len(few), len(d.codes), p=d.rng.dirichlet(np.full(len(few), 0.7)))]


def copied_toggles(d: Draft) -> None:
    """A few samples of codes that are on or off, many times each."""
    d.codes = _switched(d)
    dictionaries.copies(d)


def copied_and_fresh(d: Draft) -> None:
    """Most samples are copies of a few, the others are independent."""
    d.holds = False
    few = d.rng.integers(whole(d.rng, len(d.factors), 5 * len(d.factors)), size=len(d.codes))
    d.codes = np.where(some(d, 0.6, 0.98)[:, None], d.codes[few], d.codes)


def copied_wrong(d: Draft) -> None:
    """Copies, measured again, of samples that aren't sums of these atoms."""
    something_wrong(d)
    n = len(d.codes)
    again = d.rng.integers(whole(d.rng, 8 * len(d.factors), n), size=n)
    d.after.append(lambda X: X[again])


def nested_toggles(d: Draft) -> None:
    """Two atoms occur hardly without two others: on or off, all of them."""
    d.holds, d.codes = False, _switched(d)
    alone = d.rng.random((len(d.codes), 2)) < d.rng.uniform(0.0, 0.15)
    d.codes[:, [1, 3]] *= (d.codes[:, [0, 2]] != 0) | alone


def one_of_three(d: Draft) -> None:
    """Of three atoms exactly one is on."""
    d.holds, d.codes = False, _switched(d)
    d.codes[:, :3] = np.eye(3)[d.rng.integers(3, size=len(d.codes))]


def parity(d: Draft) -> None:
    """An atom is on where exactly one of two others is: all are on or off."""
    d.holds, d.codes = False, _switched(d)
    d.codes[:, 2] = (d.codes[:, 0] != 0) ^ (d.codes[:, 1] != 0)


def coupled_toggles(d: Draft) -> None:
    """Atoms that are on or off make each other likelier, or less likely."""
    d.holds = False
    n, k = d.codes.shape
    J = np.triu(d.rng.uniform(-2.5, 2.5, (k, k)), 1)
    J, on = J + J.T, d.codes != 0
    field = np.asarray(d.rng.uniform(-2.5, -1.0, k))
    for i in np.tile(np.arange(k), 10):
        on[:, i] = d.rng.random(n) < 1 / (1 + np.exp(-field[i] - on @ J[i]))
    d.codes = on.astype(float)


def ladder(d: Draft) -> None:
    """Atoms come on one after the other, as levels of one quantity do; two such ladders."""
    d.holds, d.codes = False, _switched(d)
    k, n = d.codes.shape[1], len(d.codes)
    for part in np.array_split(np.arange(k), 2):
        d.codes[:, part] *= np.arange(len(part)) < d.rng.integers(len(part) + 1, size=n)[:, None]
        d.codes[:, part] = np.where(np.cumprod(d.codes[:, part] != 0, axis=1), d.codes[:, part], 0.0)


def hidden_toggle(d: Draft) -> None:
    """An atom that is on or off wasn't asked for."""
    d.codes = _switched(d)
    missing(d, np.where(some(d, 0.03, 0.4), d.rng.uniform(0.4, 1.5), 0.0))


def another_together(d: Draft) -> None:
    """Where two atoms that are on or off occur together they look another way."""
    d.codes = _switched(d)
    both = (d.codes[:, 0] != 0) & (d.codes[:, 1] != 0)
    missing(d, np.where(both, d.rng.uniform(0.3, 1.2), 0.0))


def other_when_full(d: Draft) -> None:
    """An atom that is half on looks another way than one that is on: half an atom is an atom of its own."""
    half_and_full(d)
    full, turn = d.codes[:, 0] == 1.0, d.rng.uniform(0.3, 1.0) * unit(d)
    made(d, lambda X: X + np.outer(full, turn), full)


def toggles_and_wrong(d: Draft) -> None:
    """Atoms are on or off, and something is wrong."""
    d.codes = _switched(d)
    something_wrong(d)


def signs_and_wrong(d: Draft) -> None:
    """Atoms are on, off or reversed, and something is wrong."""
    signed_toggles(d)
    something_wrong(d)


# --- noise with tails, alone and with something wrong


def _tails(d: Draft) -> Array:
    """Noise of variance 1 of a law with heavier tails than Gauss's."""
    shape, law = (len(d.codes), d.factors.shape[1]), d.rng.integers(3)
    if law == 0:
        return np.asarray(d.rng.laplace(size=shape) / np.sqrt(2))
    if law == 1:
        ways = d.rng.uniform(3.5, 6)
        return np.asarray(d.rng.standard_t(ways, shape) * np.sqrt((ways - 2) / ways))
    share, size = d.rng.uniform(0.02, 0.1), d.rng.uniform(3, 5)
    hit = d.rng.random(shape) < share
    mixed = d.rng.standard_normal(shape) * np.where(hit, size, 1.0)
    return np.asarray(mixed / np.sqrt(1 - share + share * size**2))


def lively_noise(d: Draft) -> None:
    """Noise has heavier tails than Gauss's: Laplace's, Student's, or some entries with more of it."""
    level, noise = between(d.rng, 0.01, 0.1), _tails(d)
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * noise)


def lively_noise_and_wrong(d: Draft) -> None:
    """Noise with heavier tails than Gauss's, and something is wrong."""
    level, noise = between(d.rng, 0.01, 0.1), _tails(d)
    d.noise = level  # what the report prints that it can't see grows with it
    something_wrong(d)
    d.noise = 0.0
    d.last.append(lambda X: X + level * np.sqrt(np.mean(X**2)) * noise)


DISCRETE_CODES = tuple(Part(act.__name__.replace("_", " "), act) for act in (
    toggles, toggles_often_and_rare, half_and_full, signed_toggles, few_patterns, copied_toggles,
    copied_and_fresh, copied_wrong, nested_toggles, one_of_three, parity, coupled_toggles, ladder,
    hidden_toggle, another_together, other_when_full, toggles_and_wrong, signs_and_wrong, lively_noise,
    lively_noise_and_wrong,
))  # fmt: skip
