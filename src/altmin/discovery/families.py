"""What may be in a table, which estimator finds it, and with how many components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.discovery.dimensions import Dimensions
from altmin.discovery.held_out import Codes, gaussian_weights, non_negative_weights, sparse_weights
from altmin.discovery.look import Look
from altmin.estimators.dictionary.complete import CompleteDictionaryLearning
from altmin.estimators.nonnegative.and_nmf import AND
from altmin.estimators.overcomplete.approximate import ApproximateDictionaryLearning

_ROWS_FOR_EACH = 8  # rows that a dictionary needs for each atom, at the least
_BADLY = 0.2  # of the squared size of held-out cells is left over


@dataclass(frozen=True)
class Family:
    """One answer to 'what is in here?'.

    Parameters
    ----------
    name : str
        Short, as the table of candidates shows it.
    sentence : str
        What it says of the data, with ``{k}`` for the number.
    make : callable
        ``make(k, seed)``: the estimator.
    numbers : callable
        ``numbers(look, dimensions)``: how many components to try.
    codes : callable
        ``codes(model, rows)``: how weights are inferred from visible cells.
    """

    name: str
    sentence: str
    make: Callable[[int, int], Any]
    numbers: Callable[[Look, Dimensions], list[int]]
    codes: Callable[[Any, NDArray[Any]], Codes]

    def factors(self, model: Any) -> NDArray[Any]:
        """Its components, one a row."""
        return np.asarray(model.components_, dtype=np.float64)


def _mixtures(look: Look, dimensions: Dimensions) -> list[int]:
    k = dimensions.chosen
    return [k] if k >= 2 and look.n_rows >= 2 * k else []


def _sparse(look: Look, dimensions: Dimensions) -> list[int]:
    """As many atoms as dimensions; where these predict cells badly, as many as columns."""
    wanted = {dimensions.chosen}
    if dimensions.errors[dimensions.chosen] > _BADLY:
        wanted.add(look.n_features - look.constant)
    return sorted(n for n in wanted if 2 <= n <= look.n_rows // _ROWS_FOR_EACH)


def _overcomplete(look: Look, dimensions: Dimensions) -> list[int]:
    if dimensions.errors[dimensions.chosen] <= _BADLY:
        return []
    wanted = 2 * look.n_features
    return [wanted] if 4 <= look.n_features and wanted * _ROWS_FOR_EACH <= look.n_rows else []


def _nonzeros(model: Any, rows: NDArray[Any]) -> int:
    codes = np.asarray(model.transform(rows))
    return int(np.ceil(np.mean(np.sum(codes != 0, axis=1))))


MIXTURES = Family(
    "mixtures",
    "each row is a mixture of {k} features, with weights that are never negative",
    lambda k, seed: AND(k, random_state=seed),
    _mixtures,
    lambda model, rows: non_negative_weights,
)
SPARSE = Family(
    "sparse combinations",
    "each row combines a few of {k} atoms, with weights of either sign",
    lambda k, seed: CompleteDictionaryLearning(k, random_state=seed),
    _sparse,
    lambda model, rows: sparse_weights(_nonzeros(model, rows)),
)
OVERCOMPLETE = Family(
    "sparse combinations, more atoms than columns",
    "each row combines a few of {k} atoms, more than the table has columns",
    lambda k, seed: ApproximateDictionaryLearning(k, random_state=seed),
    _overcomplete,
    lambda model, rows: sparse_weights(_nonzeros(model, rows)),
)
FAMILIES = (MIXTURES, SPARSE, OVERCOMPLETE)


def principal_axes(table: NDArray[Any], k: int) -> tuple[NDArray[Any], NDArray[Any], Codes]:
    """The plain alternative, low rank without structure: factors, centre, and how weights are inferred."""
    centre = table.mean(axis=0)
    _, s, Vt = np.linalg.svd(table - centre, full_matrices=False)
    variances = s**2 / len(table)
    noise = float(variances[k:].mean()) if k < len(s) else 0.0
    return np.sqrt(variances[:k, None]) * Vt[:k], centre, gaussian_weights(noise)
