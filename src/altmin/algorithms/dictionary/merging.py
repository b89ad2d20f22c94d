"""Which starts are wanted, and what two candidates with noise, each wrong in a few atoms, become together.

Starts tend to miss different atoms. With the atoms of both in one dictionary, samples choose: a right atom
explains by itself what wrong ones explain only together, so the atoms whose codes hold least energy go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from altmin.algorithms.dictionary.block_sums import signals
from altmin.algorithms.dictionary.posterior import Prior, at_atoms, structure
from altmin.algorithms.dictionary.starts import Candidate, Progress, alike
from altmin.contract import Block, Stats
from altmin.kernels.bernoulli_gauss import sparse_posterior

if TYPE_CHECKING:
    from altmin.algorithms.dictionary.complete import CompleteState

_DIFFERENT = 0.98  # |cos| below which two atoms are not the same
_WARMER = 4.0  # times the noise variance, with which a merged dictionary is refined
_STRUCTURE = 1.0  # nats per sample beyond Gaussian data: what noise alone never gives


def is_wanted(state: CompleteState, kind: str) -> bool:
    """Penalties are for data with noise or outliers, banks for those on which nothing else works."""
    best, penalised, bank = state.search.best, kind.startswith("l1"), kind.startswith("bank")
    if state.levelled and not state.screened:
        return penalised
    if best is not None and best.exact:
        return not penalised and not bank
    found = best is not None and best.prior is not None
    return not (bank and found and structure(best.prior, state.frame) > _STRUCTURE)


def can_merge(state: CompleteState, other: Candidate | None) -> bool:
    """Whether the best candidate may lack atoms that another one has."""
    best, unscreened = state.search.best, state.levelled and not state.screened
    if other is None or other.prior is None or best.prior is None or unscreened:
        return False
    return state.search.kind != "merged" and not alike(other, best)


def pooled(state: CompleteState, best: Candidate, other: Candidate) -> CompleteState:
    """The state with the atoms of the best candidate and those that only the other one has."""
    new = np.abs(other.atoms @ best.atoms.T).max(axis=1) < _DIFFERENT
    sizes = np.concatenate([best.prior.sizes, other.prior.sizes[new]])
    density = np.concatenate([best.prior.density, other.prior.density[new]])
    prior = Prior(best.prior.variance, sizes, density)
    atoms = np.concatenate([best.atoms, other.atoms[new]])
    return replace(state, phase="merge", atoms=atoms, prior=prior, centre=best.centre)


def pool_map(algorithm: Any, state: CompleteState, block: Block) -> Stats:
    """Squares of the codes of largest evidence."""
    X = signals(state, block)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64) / state.scale
    prior = state.prior
    Z, _ = sparse_posterior(X, state.atoms, prior.variance, prior.sizes, prior.density)
    return {"squares": np.einsum("ij,ij->j", Z, Z)}


def merged(state: CompleteState, stats: Stats) -> CompleteState | None:
    """The state with the atoms that hold most energy, to be refined; None where these are the best's own."""
    k = state.frame.rank
    kept = np.sort(np.argsort(-stats["squares"], kind="stable")[:k])
    if kept[-1] < k:
        return None
    prior = state.prior
    prior = Prior(_WARMER * prior.variance, prior.sizes[kept], prior.density[kept])
    search = replace(state.search, kind="merged")
    state = replace(state, phase="refine", prior=prior, search=search, progress=Progress())
    return at_atoms(replace(state, noise=float(np.sqrt(prior.variance))), state.atoms[kept])
