"""Bases and perturbations of quadratic models: machines y = b + x'w + x'Mx, and sensing y = x'Mx."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from altmin_lab.adversary.compose import Array, Part, between, whole

_PIECES = 25  # of 40,000 rows each, for the quadratic that comes closest to a curve


@dataclass
class Law:
    """A target in the making.

    Parameters
    ----------
    rng : Generator
        All randomness.
    X, w, M : ndarray
        Features and the truth; w is 0 for sensing.
    rank : int
        What the estimator is asked for.
    noise : float
        Standard deviation over that of the target.
    target : callable or None
        From (X, target without noise) to another target.
    seen : callable or None
        From X to the features as they were measured.
    draw : callable
        From a generator and a number of rows to more rows of the same law.
    curved : bool
        Whether what is true is the quadratic that comes closest to the target over rows of this law: where
        the target is a fixed function of the features, but no quadratic.
    sound : bool
        Whether there is a true (w, M) at all.
    exogenous : bool
        Whether features are exact and no hidden cause is at work.
    holds : bool
        Whether the data follow the model; where they don't, silence is right even if the error is small.
    by_nature : bool
        Whether no test can tell these data from others with another truth: false claims count apart.
    stop : int or None
        Iterations after which the fit is stopped; None: as many as it takes.
    """

    rng: np.random.Generator
    X: Array
    w: Array
    M: Array
    rank: int
    draw: Callable[[np.random.Generator, int], Array]
    noise: float = 0.0
    target: Callable[[Array, Array], Array] | None = None
    seen: Callable[[Array], Array] | None = None
    rows: Array | None = None
    curved: bool = False
    sound: bool = True
    exogenous: bool = True
    holds: bool = True
    by_nature: bool = False
    stop: int | None = None

    def clean(self, X: Array | None = None) -> Array:
        """The quadratic, of these rows or of all."""
        X = self.X if X is None else X
        return np.asarray(X @ self.w + quadratic(X, self.M))

    def data(self) -> tuple[Array, Array]:
        """Features and target."""
        X, y = self.X, self.clean()
        y = y if self.target is None else self.target(X, y)
        y = y + self.noise * y.std() * self.rng.standard_normal(len(y))
        X = X if self.seen is None else self.seen(X)
        return (X, y) if self.rows is None else (X[self.rows], y[self.rows])


def features(rng: np.random.Generator, d: int, law: str) -> Callable[[np.random.Generator, int], Array]:
    """What draws rows of standardised columns."""
    rho = rng.uniform(0.1, 0.7) if law == "correlated" else 0.0

    def draw(rng: np.random.Generator, n: int) -> Array:
        if law == "exponential":
            return rng.exponential(size=(n, d)) - 1.0
        X = rng.standard_normal((n, d))
        return np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.standard_normal((n, 1)) if rho else X

    return draw


def low_rank(rng: np.random.Generator, d: int, k: int, condition: float = 5.0) -> Array:
    """A symmetric matrix of rank k and norm 1, eigenvalues of both signs."""
    Q = np.linalg.qr(rng.standard_normal((d, k)))[0]
    values = np.geomspace(1, 1 / between(rng, 1, condition), k) * rng.choice([-1, 1], k)
    return np.asarray((Q * values) @ Q.T)


def quadratic(X: Array, M: Array) -> Array:
    """The values x'Mx."""
    return np.einsum("ij,jk,ik->i", X, M, X)


def _base(rng: np.random.Generator, linear: bool, law: str, noise: float = 0.0, rows: float = 20.0) -> Law:
    d = whole(rng, 4, 9)
    k = whole(rng, 1, min(3, d - 1))
    p = 1 + d + d * k
    draw = features(rng, d, law)
    X = draw(rng, int(rows * p))
    w = rng.standard_normal(d) / np.sqrt(d) if linear else np.zeros(d)
    return Law(rng, X, w, low_rank(rng, d, k), k, draw, noise)


BASES = (
    Part("no noise", lambda rng, linear: _base(rng, linear, "gaussian")),
    Part("skewed features", lambda rng, linear: _base(rng, linear, "exponential")),
    Part("little noise", lambda rng, linear: _base(rng, linear, "gaussian", between(rng, 0.005, 0.05)),
         group="noisy"),
    Part("correlated, noise",
         lambda rng, linear: _base(rng, linear, "correlated", between(rng, 0.01, 0.1), 40), group="noisy"),
    Part("much noise, many rows",
         lambda rng, linear: _base(rng, linear, "gaussian", rng.uniform(0.1, 0.4), 250), group="noisy"),
)  # fmt: skip


def closest(law: Law) -> tuple[Array, Array]:
    """The quadratic that comes closest to a curved target over rows of its law: least squares on very many.

    What the fit estimates, and what a report claims: of a curve that is too slight to be seen, slope and
    square belong to the coefficients, and more rows of the same law say so.
    """
    rng, linear = np.random.default_rng(0), bool(law.w.any())
    first, second = np.triu_indices(len(law.w))
    gram, moment = 0.0, 0.0
    for _ in range(_PIECES):
        X = law.draw(rng, 40_000)
        y = law.clean(X)
        columns = X[:, first] * X[:, second]
        columns = np.hstack([np.ones((len(X), 1)), X, columns]) if linear else columns  # sensing has none
        gram = gram + columns.T @ columns
        moment = moment + columns.T @ (law.target(X, y) - y if law.target else 0 * y)
    found = np.linalg.solve(gram, moment)
    half = np.zeros(law.M.shape)
    half[first, second] = found[-len(first) :] / 2
    return law.w + (found[1 : 1 + len(law.w)] if linear else 0.0), law.M + half + half.T


def direction(law: Law) -> Array:
    """A random one, of length 1."""
    v = law.rng.standard_normal(law.X.shape[1])
    return np.asarray(v / np.linalg.norm(v))


# --- perturbations on which rules may be tuned -------------------------------------------------------


def cubic(law: Law) -> None:
    """A cubic term."""
    law.holds, law.curved = False, True
    v, level = direction(law), between(law.rng, 0.05, 1.0)
    law.target = lambda X, y: y + level * (X @ v) ** 3


def absolute(law: Law) -> None:
    """A kink."""
    law.holds, law.curved = False, True
    v, level = direction(law), between(law.rng, 0.1, 1.0)
    law.target = lambda X, y: y + level * np.abs(X @ v)


def noisy_features(law: Law) -> None:
    """All features are measured with error."""
    law.holds = False
    level = between(law.rng, 0.1, 0.7)
    law.seen = lambda X: X + level * X.std(axis=0) * law.rng.standard_normal(X.shape)
    law.exogenous = False


def one_noisy_feature(law: Law) -> None:
    """One feature, which enters linearly, is measured with error."""
    law.holds = False
    j, level = 0, between(law.rng, 0.2, 1.0)
    law.M[j] = law.M[:, j] = 0.0

    def seen(X: Array) -> Array:
        X = X.copy()
        X[:, j] += level * X[:, j].std() * law.rng.standard_normal(len(X))
        return X

    law.seen, law.exogenous = seen, False


def low_rank_asked(law: Law) -> None:
    """A rank too low is asked for."""
    law.holds = False
    d = law.X.shape[1]
    law.M = low_rank(law.rng, d, min(law.rank + 1, d), 3)


def outlying_targets(law: Law) -> None:
    """Some targets are far off."""
    share, size = between(law.rng, 0.005, 0.1), between(law.rng, 3, 30)

    def target(X: Array, y: Array) -> Array:
        rows = law.rng.random(len(y)) < share
        return y + np.where(rows, size * y.std() * law.rng.standard_normal(len(y)), 0.0)

    law.target = target


def copies(law: Law) -> None:
    """Few rows, many times."""
    law.holds = False
    n = len(law.X)
    some = law.rng.permutation(n)[: max(n // whole(law.rng, 6, 40), 4)]
    law.rows = law.rng.choice(some, n)


def few_rows(law: Law) -> None:
    """About as many rows as parameters."""
    law.holds = False
    d = law.X.shape[1]
    law.rows = np.arange(int(law.rng.uniform(0.5, 2.5) * (1 + d + d * law.rank)))


def collinear(law: Law) -> None:
    """Two features are nearly the same."""
    law.holds = False
    law.X[:, 1] = law.X[:, 0] + between(law.rng, 1e-6, 1e-2) * law.X[:, 1]


def pure_noise(law: Law) -> None:
    """The target has nothing to do with the features."""
    law.holds = False
    law.target, law.sound = (lambda X, y: law.rng.standard_normal(len(y))), False


# --- perturbations that only judge -------------------------------------------------------------------


def drift(law: Law) -> None:
    """The coefficients change from the first to the last row."""
    law.holds = False
    change = law.rng.uniform(0.1, 1.0) * law.rng.standard_normal(law.X.shape[1])
    law.target = lambda X, y: y + np.linspace(-1, 1, len(y)) * (X @ change)


def heteroscedastic(law: Law) -> None:
    """Noise grows with a feature."""
    level = between(law.rng, 0.02, 0.3)
    law.target = lambda X, y: y + level * y.std() * np.abs(X[:, 0]) * law.rng.standard_normal(len(y))


def quantised(law: Law) -> None:
    """Targets are rounded to a grid."""
    law.holds, law.curved = False, True
    step = between(law.rng, 0.01, 1.0) * float(law.clean().std())
    law.target = lambda X, y: np.round(y / step) * step


def saturating(law: Law) -> None:
    """Targets saturate."""
    law.holds, law.curved = False, True
    level = law.rng.uniform(0.2, 1.0) / float(law.clean().std())
    law.target = lambda X, y: np.tanh(level * y) / level


def three_way(law: Law) -> None:
    """An interaction of three features."""
    law.holds, law.curved = False, True
    level = between(law.rng, 0.1, 1.0)
    law.target = lambda X, y: y + level * X[:, 0] * X[:, 1] * X[:, 2]


def two_populations(law: Law) -> None:
    """Some rows follow another law."""
    law.holds = False
    other = low_rank(law.rng, law.X.shape[1], law.rank)
    share = law.rng.uniform(0.05, 0.4)
    law.target = lambda X, y: np.where(law.rng.random(len(y)) < share, quadratic(X, other), y)


def periodic(law: Law) -> None:
    """A wave."""
    law.holds, law.curved = False, True
    v, level, speed = direction(law), between(law.rng, 0.1, 1.0), law.rng.uniform(1, 4)
    law.target = lambda X, y: y + level * np.sin(speed * (X @ v))


def clipped(law: Law) -> None:
    """Targets are cut at a level."""
    law.holds, law.curved = False, True
    most = np.quantile(law.clean(), law.rng.uniform(0.6, 0.97))
    law.target = lambda X, y: np.minimum(y, most)


def heavy_noise(law: Law) -> None:
    """Noise with heavy tails."""
    level = between(law.rng, 0.01, 0.2)
    law.target = lambda X, y: y + level * y.std() * law.rng.standard_t(2.5, len(y))


def multiplied(law: Law) -> None:
    """Noise multiplies the target."""
    level = between(law.rng, 0.02, 0.3)
    law.target = lambda X, y: y * (1 + level * law.rng.standard_normal(len(y)))


def rounded_features(law: Law) -> None:
    """Features are measured on a coarse grid."""
    law.holds = False
    step = between(law.rng, 0.1, 1.5)
    law.seen = lambda X: np.round(X / (step * X.std(axis=0))) * step * X.std(axis=0)
    law.exogenous = False


def omitted_square(law: Law) -> None:
    """Many small quadratic terms beside the large ones."""
    law.holds = False
    S = law.rng.standard_normal(law.M.shape)
    law.M = law.M + between(law.rng, 0.05, 0.5) * (S + S.T) / (2 * np.linalg.norm(S, 2))


def jump(law: Law) -> None:
    """The target jumps where a direction exceeds a level."""
    law.holds, law.curved = False, True
    v, level, at = direction(law), between(law.rng, 0.1, 1.0), law.rng.uniform(-1, 1)
    level = level * float(law.clean().std())
    law.target = lambda X, y: y + level * (X @ v > at)


def exponential_term(law: Law) -> None:
    """An exponential of one direction."""
    law.holds, law.curved = False, True
    v, level, speed = direction(law), between(law.rng, 0.1, 1.0), law.rng.uniform(0.3, 1.0)
    law.target = lambda X, y: y + level * np.exp(speed * np.clip(X @ v, -4, 4))


def larger_of_two(law: Law) -> None:
    """The larger of two features."""
    law.holds, law.curved = False, True
    level = between(law.rng, 0.1, 1.0)
    law.target = lambda X, y: y + level * np.maximum(X[:, 0], X[:, 1])


def hidden_column(law: Law) -> None:
    """A cause that isn't among the features, but goes with some of them."""
    law.holds = law.exogenous = False
    law.by_nature = True
    hidden = law.X[:, 0] + law.rng.uniform(0.3, 3.0) * law.rng.standard_normal(len(law.X))
    level = between(law.rng, 0.1, 1.0)
    law.target = lambda X, y: y + level * hidden


def skewed_noise(law: Law) -> None:
    """Noise that is always positive."""
    level = between(law.rng, 0.01, 0.3)
    law.target = lambda X, y: y + level * y.std() * (law.rng.exponential(size=len(y)) - 1.0)


def slow_noise(law: Law) -> None:
    """Noise that changes slowly from row to row."""
    level, memory = between(law.rng, 0.02, 0.3), law.rng.uniform(0.7, 0.99)

    def target(X: Array, y: Array) -> Array:
        e = law.rng.standard_normal(len(y)) * np.sqrt(1 - memory**2)
        for i in range(1, len(e)):
            e[i] += memory * e[i - 1]
        return y + level * y.std() * e

    law.target = target


def stairs(law: Law) -> None:
    """A direction counts in whole steps."""
    law.holds, law.curved = False, True
    v, level = law.rng.uniform(0.5, 2.0) * direction(law), between(law.rng, 0.1, 1.0)
    law.target = lambda X, y: y + level * np.floor(X @ v)


def bump(law: Law) -> None:
    """A bump somewhere along a direction."""
    law.holds, law.curved = False, True
    v, level, at = direction(law), between(law.rng, 0.2, 2.0), law.rng.uniform(-1.5, 1.5)
    law.target = lambda X, y: y + level * np.exp(-2 * (X @ v - at) ** 2)


def stopped_early(law: Law) -> None:
    """The fit ends after a few iterations."""
    law.stop = whole(law.rng, 1, 6)


def powered(law: Law) -> None:
    """Targets were taken to a power."""
    law.holds = law.sound = False
    p = float(law.rng.choice([law.rng.uniform(0.4, 0.8), law.rng.uniform(1.25, 2.0)]))
    law.target = lambda X, y: np.sign(y) * np.abs(y) ** p


def switched(law: Law) -> None:
    """The target is larger on one side of a feature than on the other."""
    law.holds = law.sound = False
    level = law.rng.uniform(0.1, 0.9)
    law.target = lambda X, y: y * (1 + level * np.sign(X[:, 0]))


def mixed_up_targets(law: Law) -> None:
    """Some rows have the target of another row."""
    law.holds = False
    share = between(law.rng, 0.02, 0.5)

    def target(X: Array, y: Array) -> Array:
        rows = np.flatnonzero(law.rng.random(len(y)) < share)
        y = y.copy()
        y[rows] = y[law.rng.permutation(rows)]
        return y

    law.target = target


def lost_targets(law: Law) -> None:
    """Some targets were recorded as 0."""
    law.holds = False
    share = between(law.rng, 0.02, 0.5)
    law.target = lambda X, y: np.where(law.rng.random(len(y)) < share, 0.0, y)


def swapped_features(law: Law) -> None:
    """In some rows two features were mixed up."""
    law.holds = law.exogenous = False
    rows = law.rng.random(len(law.X)) < between(law.rng, 0.05, 0.5)

    def seen(X: Array) -> Array:
        other = X.copy()
        other[:, [0, 1]] = X[:, [1, 0]]
        return np.where(rows[:, None], other, X)

    law.seen = seen


def larger_of_laws(law: Law) -> None:
    """The target is the larger of two quadratics."""
    law.holds = law.sound = False
    others = [low_rank(law.rng, law.X.shape[1], law.rank) for _ in range(20)]

    def target(X: Array, y: Array) -> Array:
        every = [quadratic(X, other) for other in others]  # of opposite signs the larger is one of the two
        return np.maximum(y, min(every, key=lambda z: abs(float(np.mean(z > y)) - 0.5)))

    law.target = target


def next_targets(law: Law) -> None:
    """From some row on each target stands one row too late."""
    law.holds = law.sound = False
    start = law.rng.uniform(0.1, 0.7)

    def target(X: Array, y: Array) -> Array:
        late = np.roll(y, 1)
        return np.where(np.arange(len(y)) < start * len(y), y, late)

    law.target = target


def doubled_targets(law: Law) -> None:
    """Some targets are twice as large as they should be."""
    law.holds = False
    share, times = law.rng.uniform(0.05, 0.4), law.rng.uniform(1.5, 4.0)
    law.target = lambda X, y: np.where(law.rng.random(len(y)) < share, times * y, y)


def _nothing(law: Law) -> None:
    """As it is."""


PERTURBATIONS = (
    *(Part(act.__name__.strip("_").replace("_", " "), act) for act in (
        _nothing, cubic, absolute, noisy_features, one_noisy_feature, low_rank_asked, outlying_targets,
        copies, few_rows, collinear, pure_noise, three_way, periodic, clipped, jump, mixed_up_targets,
        lost_targets, larger_of_laws, heteroscedastic, multiplied, next_targets, exponential_term,
        swapped_features, doubled_targets)),
    *(Part(act.__name__.replace("_", " "), act, held_out=True) for act in (
        drift, quantised, saturating, two_populations, heavy_noise, rounded_features, omitted_square,
        larger_of_two, hidden_column, skewed_noise, slow_noise, stairs, bump,
        stopped_early, powered, switched)),
)  # fmt: skip
