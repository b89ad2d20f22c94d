"""What may be in a table, which estimators find it, and with how many components."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.discovery.dimensions import Dimensions
from altmin.discovery.held_out import Codes, gaussian_weights, sparse_weights, usual_weights
from altmin.discovery.look import Look
from altmin.discovery.screen import can_be_sparse
from altmin.discovery.sparsity import left_over
from altmin.engine import open_source
from altmin.estimators.dictionary.complete import CompleteDictionaryLearning
from altmin.estimators.dictionary.orthogonal import OrthogonalDictionaryLearning
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.estimators.nonnegative.counts import are_counts
from altmin.estimators.overcomplete.approximate import ApproximateDictionaryLearning
from altmin.selection.rows import quiet_fit
from altmin.signatures.number import choose_number

_COUNTS, _MOST_OF_COUNTS = 40_000, 20  # cells that are split for the number of features, and the largest
_ROWS_FOR_EACH = 8  # rows that a dictionary needs for each atom, at the least
_BADLY = 0.2  # of the squared size of held-out cells is left over
_MOST_ATOMS = 60  # more than so many columns are not searched for more atoms than columns
_NONZEROS = (1, 2, 3, 4)
_JUMP = 1.5  # the error grows by so much where an atom is missing
_FLAT = 2.0  # more atoms a row than it has lower what is left, against chance, by less than this


@dataclass(frozen=True)
class Seen:
    """What families may know of a table before they are tried; 'beyond_mean' are dimensions without it."""

    rows: NDArray[Any]
    look: Look
    dimensions: Dimensions
    beyond_mean: Dimensions
    seed: int


@dataclass(frozen=True)
class Family:
    """One answer to 'what is in here?'.

    Parameters
    ----------
    name : str
        Short, as the table of candidates shows it.
    sentence : str
        What it says of the data, with ``{k}`` for the number.
    proposals : callable
        ``proposals(seen)``: estimators to try, best guess first; none where the table rules it out.
    codes : callable
        ``codes(model, rows)``: how weights are inferred from visible cells, by rows without hidden ones.
    few_leave : float
        What a few factors may leave of the rows, over what they leave of Gaussian ones.
    """

    name: str
    sentence: str
    proposals: Callable[[Seen], Iterator[Any]]
    codes: Callable[[Any, NDArray[Any]], Codes]
    few_leave: float


def _mixtures(seen: Seen) -> Iterator[Any]:
    """As many features as dimensions, where these are fewer than could be looked at.

    Features of counts that few rows have are no dimensions; if those that were found aren't the answer, the
    number is looked for again by what one half of the counts says of the other.
    """
    k = seen.dimensions.chosen
    if k >= 2 and seen.look.n_rows >= 2 * k and not seen.dimensions.saturated:
        yield AND(k, random_state=seen.seed)
    counts = seen.rows[: _COUNTS // seen.look.n_features]
    if len(counts) >= seen.look.n_features and are_counts("auto", open_source(counts)):
        more = choose_number(counts, _MOST_OF_COUNTS, seen.seed).n_components
        if more > max(k, 1):
            yield AND(more, random_state=seen.seed)


def _sparse(seen: Seen) -> Iterator[Any]:
    """As many atoms as dimensions, or as columns: where dimensions predict badly, or are hardly fewer.

    A dictionary takes the mean off, so it is no dimension.
    """
    columns, dimensions = seen.look.n_features - seen.look.constant, seen.beyond_mean
    wanted = [] if dimensions.saturated else [dimensions.chosen]
    if dimensions.saturated or dimensions.left > _BADLY or columns <= 2 * dimensions.chosen:
        wanted.append(columns)
    for k in dict.fromkeys(wanted):
        if 2 <= k <= seen.look.n_rows // _ROWS_FOR_EACH and can_be_sparse(seen.rows, k, seen.seed):
            yield CompleteDictionaryLearning(k, random_state=seen.seed)


def _orthogonal(seen: Seen) -> Iterator[Any]:
    yield OrthogonalDictionaryLearning(random_state=seen.seed)


def _overcomplete(seen: Seen) -> Iterator[Any]:
    """The least number of atoms that leaves about as little as twice as many as there are columns.

    A row has as many atoms as are needed to leave about as little, against chance, as more would.
    """
    d, n = seen.look.n_features, seen.look.n_rows
    guessed = seen.dimensions.saturated or seen.dimensions.left > _BADLY
    if not (guessed and 4 <= d <= _MOST_ATOMS and 2 * d * _ROWS_FOR_EACH <= n):
        return

    def fit(k: int, nonzeros: int) -> Any:
        model = ApproximateDictionaryLearning(k, n_nonzero_coefs=nonzeros, random_state=seen.seed)
        return quiet_fit(model, seen.rows)

    tried = [fit(2 * d, nonzeros) for nonzeros in _NONZEROS if nonzeros <= max(d // 2, 2)]
    against_chance = np.array([few_leave(model, seen) for model in tried])
    if against_chance.min() > MORE_LEAVE:
        return
    nonzeros = int(np.flatnonzero(against_chance <= _FLAT * against_chance.min())[0]) + 1
    if nonzeros == 1:
        return  # groups of directions: nothing is combined
    enough = _JUMP * tried[nonzeros - 1].relative_error_
    low, high = d, 2 * d  # 'low' atoms leave too much, 'high' don't
    if fit(low, nonzeros).relative_error_ <= enough:
        return  # no more atoms than columns are needed
    while high - low > 1:
        middle = (low + high) // 2
        good = fit(middle, nonzeros).relative_error_ <= enough
        low, high = (low, middle) if good else (middle, high)
    yield ApproximateDictionaryLearning(high, n_nonzero_coefs=nonzeros, random_state=seen.seed)


def few_leave(model: Any, seen: Seen) -> float:
    """What as many atoms as a row has leave of the rows, over what they leave of Gaussian rows."""
    atoms = np.asarray(model.components_, dtype=np.float64)
    nonzeros = getattr(model, "n_nonzero_coefs", None)
    if nonzeros is not None:
        return float(left_over(seen.rows, atoms, centre_of(model), nonzeros, seen.seed)[-1])
    return float(left_over(seen.rows, atoms, centre_of(model), seed=seen.seed).min())


def centre_of(model: Any) -> NDArray[Any]:
    """What a model takes off its rows."""
    centre = getattr(model, "intercept_", None)
    return np.zeros(model.components_.shape[1]) if centre is None else np.asarray(centre)


def _as_used(model: Any, rows: NDArray[Any]) -> Codes:
    """Pursuit with as many nonzeros as the model's own codes have on average."""
    codes = np.asarray(model.transform(rows))
    return sparse_weights(int(np.ceil(np.mean(np.sum(codes != 0, axis=1)))))


# nearly all planted factors leave less; series that drift from row to row .14, skewed columns .35 and more
FEW_LEAVE = 0.12
MORE_LEAVE = 0.25  # a search among more atoms than columns finds worse ones
MIXTURES = Family(
    "mixtures",
    "each row is a mixture of {k} features, with weights that are never negative",
    _mixtures,
    lambda model, rows: usual_weights(rows, np.asarray(model.components_, dtype=np.float64)),
    few_leave=FEW_LEAVE,
)
OVERCOMPLETE = Family(
    "sparse combinations, more atoms than columns",
    "each row combines a few of {k} atoms, more than the table has columns",
    _overcomplete,
    _as_used,
    few_leave=MORE_LEAVE,
)
SPARSE = Family(
    "sparse combinations",
    "each row combines a few of {k} atoms, with weights of either sign",
    _sparse,
    _as_used,
    few_leave=FEW_LEAVE,
)
ORTHOGONAL = Family(
    "sparse combinations, orthogonal atoms",
    "each row combines a few of {k} atoms that are orthogonal to each other",
    _orthogonal,
    _as_used,
    few_leave=FEW_LEAVE,
)
FAMILIES = (MIXTURES, SPARSE, OVERCOMPLETE)


def are_columns(components: NDArray[Any]) -> bool:
    """Whether these are as many factors as columns, and half of them or more are single columns."""
    k, d = components.shape
    largest = np.abs(components).max(axis=1)
    return k == d and bool(np.mean(largest >= 0.99 * np.linalg.norm(components, axis=1)) >= 0.5)


def may_be_orthogonal(components: NDArray[Any]) -> bool:
    """Whether these are as many atoms as there are columns, and about orthogonal."""
    k, d = components.shape
    return k == d and bool(np.abs(components @ components.T - np.eye(k)).max() < 0.3)


def principal_axes(table: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any], Codes]:
    """The plain alternative, low rank without structure: factors, centre, and how weights are inferred."""
    centre = table.mean(axis=0)
    variances, V = np.linalg.eigh(np.cov(table.T, bias=True))
    variances, Vt = np.maximum(variances[::-1], 0.0), V[:, ::-1].T
    noise = float(variances[k:].mean()) if k < len(variances) else 0.0
    return np.sqrt(variances[:k, None]) * Vt[:k], centre, gaussian_weights(noise)
