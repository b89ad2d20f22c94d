r"""Starts: rotations of whitened data whose codes look least Gaussian, and searches without whitening.

With :math:`V = Y P` white, the codes of the true dictionary are nearly :math:`V W^\top` for a rotation W.
The symmetric fixed point of a contrast with derivative g (Hyvarinen 1999) finds it,

.. math:: W \leftarrow \mathrm{Polar}\big(E[g(z)\,v^\top] - \mathrm{diag}(E[g'(z)])\, W\big),

from a random rotation. Which contrast works depends on the codes: +-1 codes of density 1/3 have no excess
kurtosis, for denser ones its sign turns, and where samples are few all symmetric iterations fail although
single directions are still found. So there is a portfolio, the last resort of which is a bank of many
independent one-unit searches; true directions stand out by their small mean |z|.

Whitening makes white noise coloured, so that two such searches may agree on the same wrong dictionary. Online
learning with an l1 penalty (Mairal et al. 2009) works in the data's own coordinates,

.. math:: \min_{A, X} \tfrac12 \|Y - X A\|_F^2 + \lambda \|X\|_1, \qquad \|a_j\| = 1:

each step codes a few samples by the lasso, adds to sums that forget, and takes each atom in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.dictionary.block_sums import in_single, signals
from altmin.contract import Block, Stats, record
from altmin.kernels.contrasts import cube_score, huber_score
from altmin.kernels.gram import times, transpose_times
from altmin.kernels.lasso import lasso_codes
from altmin.kernels.polar import polar

if TYPE_CHECKING:
    from altmin.algorithms.dictionary.complete import CompleteState

PORTFOLIO = (
    "huber 1",
    "l1 0.15 0.15 300",
    "huber 0.5",
    "l1 0.3 0.1 600",
    "cube",
    "l1 0.25 0.25 300",
    "descent",
    "huber 0.25",
    "l1 0.15 0.15 300",
    "huber 1",
    "bank 12",
    "bank 40",
    "bank 40",
)
"""Kinds of start in the order in which they are tried, with the width of the Huber function, the penalties
and steps of a search without whitening, or the number of searches for each atom."""

TIED = 0.05
"""Evidence, in nats per sample, by which refinements that led to the same maximum may differ."""

CLEAR = 0.0
"""Score, above minus any mean |z|, of a candidate with so many exact zeros that no other start is asked."""

_BATCH = 256  # samples of a penalised step
_FORGET = 3.0  # the sums of step t weigh (1 - 1/t)^3 in the next
_ANEW = 50  # steps after which the sums begin anew: old ones hold an atom between two where it was lost
_FOUND = 0.98  # |cos| from which on two starts have found the same atom in noise
_SAME = 0.7  # |cos| above which two directions of a bank are the same atom


def random_rotation(n: int, seed: list[int]) -> NDArray[Any]:
    """A random orthogonal matrix."""
    return polar(np.random.default_rng(seed).standard_normal((n, n)))


def nearest_rotation(M: NDArray[Any], toward: NDArray[Any]) -> NDArray[Any]:
    """The polar factor; where M is far from singular by eigenvectors of M M', in two thirds of the time."""
    values, vectors = np.linalg.eigh(M @ M.T)
    if values[0] <= 1e-8 * values[-1]:
        return polar(M, toward)
    return np.asarray((vectors / np.sqrt(values)) @ (vectors.T @ M))


def random_directions(m: int, n: int, seed: list[int]) -> NDArray[Any]:
    """Random unit vectors."""
    W = np.random.default_rng(seed).standard_normal((m, n))
    return np.asarray(W / np.linalg.norm(W, axis=1, keepdims=True))


def contrast_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """E[g(z) x'] and E[g'(z)] of a block, for the contrast of the current start."""
    X, decoder = in_single(state, block)
    Z = times(X, decoder)
    kind, width = contrast_of(state.search.kind)
    slope = cube_score(Z) if kind == "cube" else huber_score(Z, width)
    cross = transpose_times(Z, X).astype(np.float64) * state.scale
    return {"cross": cross, "slope": slope, "n_rows": block.n_rows}


def contrast_of(kind: str) -> tuple[str, float]:
    """Contrast and width; a bank searches with the Huber function of width 1/2."""
    name, _, number = kind.partition(" ")
    if name == "bank":
        return "huber", 0.5
    return name, float(number or 0)


def unit_rows(W: NDArray[Any], fallback: NDArray[Any]) -> NDArray[Any]:
    """Rows scaled to unit norm; a row that vanished is taken from the fallback."""
    norms = np.linalg.norm(W, axis=1, keepdims=True)
    return np.where(norms > 0, W / np.where(norms > 0, norms, 1.0), fallback)


def spread_map(algorithm: Any, state: Any, block: Block) -> Stats:
    """Sums of |z| and z^2 of each direction, by which directions and candidates are judged."""
    Z = times(signals(state, block), state.decoder)
    np.abs(Z, out=Z)
    return {
        "absolute": Z.sum(axis=0, dtype=np.float64),
        "squares": np.einsum("ij,ij->j", Z, Z, dtype=np.float64),
        "n_rows": block.n_rows,
    }


def mean_absolute(stats: Stats) -> NDArray[Any]:
    """E|z| / rms(z) of each direction: .8 for a Gaussian, sqrt(theta) for +-1 codes of density theta."""
    rms = np.sqrt(stats["squares"] / stats["n_rows"])
    return np.asarray(stats["absolute"] / stats["n_rows"] / np.where(rms > 0, rms, 1.0))


def distinct_directions(W: NDArray[Any], scores: NDArray[Any], n: int, seed: list[int]) -> NDArray[Any]:
    """The best n distinct directions of a bank, made into a rotation.

    Greedy by score; where fewer than n are distinct, random directions fill up.
    """
    kept = np.zeros((0, W.shape[1]))
    for direction in W[np.argsort(scores, kind="stable")]:
        if len(kept) == n:
            break
        if np.all(np.abs(kept @ direction) < _SAME):
            kept = np.vstack([kept, direction])
    filled = np.vstack([kept, 0.1 * random_directions(n - len(kept), W.shape[1], seed)])
    return polar(filled)


def agree(W: NDArray[Any], other: NDArray[Any], least: float = 0.9) -> bool:
    """Whether two rotations have the same rows up to order and sign, each to within |cos| >= ``least``."""
    cosine = np.abs(unit_rows(W, W) @ unit_rows(other, other).T)
    match = cosine.argmax(axis=1)
    return len(set(match)) == len(match) and bool(np.all(cosine.max(axis=1) >= least))


# --- with a penalty, without whitening ---------------------------------------------------------------


@record
class L1Sums:
    """Weighted sums of codes times codes, and of codes times samples."""

    gram: Any
    cross: Any


def first_atoms(k: int, n: int, seed: list[int]) -> tuple[NDArray[Any], L1Sums]:
    """Random atoms, and empty sums."""
    return random_directions(k, n, seed), L1Sums(np.zeros((k, k)), np.zeros((k, n)))


def penalty(kind: str, step: int) -> float:
    """The penalty of a step, in units of the rms norm of the samples: 'l1 first last steps', geometric."""
    first, last, steps = (float(word) for word in kind.split()[1:])
    return float(first * (last / first) ** min(step / steps, 1.0))


def n_steps(kind: str) -> int:
    """Steps of a start."""
    return int(kind.split()[-1])


def l1_map(algorithm: Any, state: CompleteState, block: Block) -> Stats:
    """Lasso codes of some samples of a block, drawn by the block's own random numbers."""
    X = signals(state, block)
    X = X[np.sort(block.rng().permutation(block.n_rows)[:_BATCH])]
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64) / state.scale
    size = float(np.sqrt(state.frame.energy))
    level = penalty(state.search.kind, state.progress.passes) * size
    Z = lasso_codes(X, state.atoms, level, tol=1e-3, max_sweeps=100)
    return {"gram": Z.T @ Z, "cross": Z.T @ X}


def l1_step(state: CompleteState, stats: Stats) -> CompleteState:
    """One sweep of block coordinate descent over the atoms; an atom that is never used starts anew."""
    step, k = state.progress.passes, len(state.atoms)
    kept = (1 - 1 / (step % _ANEW + 1)) ** _FORGET
    gram = kept * state.sums.gram + stats["gram"]
    cross = kept * state.sums.cross + stats["cross"]
    atoms, used = state.atoms.copy(), gram.diagonal() > 1e-8 * np.trace(gram)
    for j in np.flatnonzero(used):
        moved = atoms[j] + (cross[j] - gram[j] @ atoms) / gram[j, j]
        atoms[j] = moved / max(float(np.linalg.norm(moved)), 1e-300)
    fresh = random_directions(k, atoms.shape[1], [state.seed, 11, step])
    atoms = np.where(used[:, None], atoms, fresh)
    progress = replace(state.progress, passes=step + 1)
    state = replace(state, atoms=atoms, sums=L1Sums(gram, cross), progress=progress)
    return replace(state, phase="penalised") if step + 1 >= n_steps(state.search.kind) else state


# --- what the starts have led to ----------------------------------------------------------------------


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
    begun: tuple[int, ...] = ()  # starts so far
    kind: str = ""
    tried: int = 0
    rotation: Any = None  # (k, k): W of the current start, before its polish
    suspects: Any = None  # (m, 2): pairs of atoms that may be mixed up
    vanishing: int = 0  # samples on which a code is zero though others aren't, for the atom with fewest
    repairs: int = 0
    refined: bool = False  # by expectation maximisation: what follows is its last polish
    found: tuple[Candidate, ...] = ()
    best: Any = None  # Candidate

    @property
    def agreeing(self) -> int:
        """Starts that led to the best candidate; with noise, to each of its atoms.

        Where atoms are many each start misses a few, and not the same ones: together they confirm all.
        """
        whole = sum(c is self.best or alike(c, self.best) for c in self.found) if self.best else 0
        if not self.found or self.best is None or self.best.prior is None:
            return whole
        return max(whole, int(self._times_found(self.found).min()))

    @property
    def trusted(self) -> bool:
        """Whether the agreement says something: exact zeros, or searches with and without whitening.

        Whitening colours the noise, so two whitened starts may agree on an error that others would beat.
        """
        penalised = [candidate for candidate in self.found if candidate.kind.startswith("l1")]
        exact = self.best is not None and self.best.exact
        return exact or len(penalised) >= 2 or bool(penalised and self._times_found(penalised).min() > 0)

    def _times_found(self, candidates: Sequence[Candidate]) -> NDArray[Any]:
        """How many of these have each atom of the best candidate."""
        atoms = unit_rows(self.best.atoms, self.best.atoms)
        near = (np.abs(unit_rows(c.atoms, c.atoms) @ atoms.T).max(axis=0) >= _FOUND for c in candidates)
        return np.sum(list(near), axis=0)


def alike(candidate: Candidate, best: Candidate) -> bool:
    """Whether two candidates have the same atoms and, where there is noise, the same evidence."""
    tied = best.prior is None or candidate.score > best.score - TIED
    return tied and agree(candidate.atoms, best.atoms, 0.9 if best.exact else _FOUND)
