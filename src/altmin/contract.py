"""The contract between algorithms and the engine: pure steps over a frozen state.

Every algorithm of altmin alternates *decode a block, sum small statistics, update the factors*.
An algorithm is a frozen dataclass of its parameters with a few pure methods; it asks for rounds
over the data, and one engine (:mod:`altmin.engine`) runs them all: in memory, out of core, on a
stream or on a cluster.

::

    init(info, seed)   -> State
    next_round(state)  -> Round | Done
    map(algorithm, state, block) -> Stats          (a function named by the Round; pure)
    combine(Stats, Stats) -> Stats                 (below; associative, the same for everyone)
    then(state, stats) -> State                    (named by the Round too; pure)
    finish(state)      -> State                    (the iterations are over: rounds that follow tidy up)

Purity is what buys the rest: a retried task cannot count a block twice, a checkpoint is the state,
and the same grid of blocks gives the same bits for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from altmin.io.records import record

__all__ = [
    "Algorithm",
    "All",
    "ArgMax",
    "Block",
    "Concat",
    "Done",
    "Info",
    "Max",
    "Min",
    "Next",
    "OutcomeKind",
    "Round",
    "Rows",
    "Same",
    "State",
    "Stats",
    "Take",
    "TopRows",
    "combine",
    "record",
]

State: TypeAlias = Any
"""A ``@record``: arrays, numbers, strings, None, tuples, dicts and other records. Nothing else
survives between rounds, so nothing else has to be saved."""

Stats: TypeAlias = Any
"""What a block contributes: an array or number (summed), one of the leaves below (they know how to
combine), or a tuple or dict of those."""

OutcomeKind = Literal["converged", "max_iter", "stalled", "diverged", "interrupted", "end_of_stream"]


# --- what an algorithm may know before it sees data ------------------------------------------------


@dataclass(frozen=True)
class Info:
    """Shape and nature of the data, known before the first round.

    ``n_rows`` is None for a stream of unknown length; ``replayable`` says whether rows can be read
    again (All, Same and Take need it, Next does not). ``row_entries`` is the mean number of stored entries
    of a sparse row, as far as it is known.
    """

    n_features: int
    dtype: np.dtype[Any]
    n_rows: int | None = None
    sparse: bool = False
    replayable: bool = True
    second_features: int = 0
    row_entries: float = field(default=0.0, repr=False)  # no part of what a checkpoint belongs to


# --- rounds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class All:
    """Every row, once: a full pass."""


@dataclass(frozen=True)
class Next:
    """The next ``n`` rows of the stream; ``wrap`` starts over at the end of data that can be read again.

    ``keep`` retains the rows, so that a :class:`Same` round can look at them again even on a one-way
    stream. A round that finds no row left ends the fit with the outcome ``end_of_stream``.
    """

    n: int
    wrap: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Same:
    """The rows of the last :class:`Next` round again."""


@dataclass(frozen=True)
class Take:
    """The rows with these numbers (sorted, distinct): a sample for a start."""

    ids: NDArray[np.intp]


Rows: TypeAlias = All | Next | Same | Take


@dataclass(frozen=True)
class Round:
    """One pass that an algorithm asks for.

    Parameters
    ----------
    map : callable
        ``map(algorithm, state, block) -> Stats``, or ``(Stats, columns)`` where the round ``writes``.
        A module-level function, so that it can travel to another process. It returns fresh arrays:
        the engine adds into them.
    rows : All, Next, Same or Take
        Which rows.
    name : str
        The phase, as progress bar and history show it.
    iteration : bool
        Whether this round completes an iteration: counts towards ``max_iter``, writes a history row.
    writes, reads : tuple of str
        Per-row columns that the map returns or finds in ``block.columns``. A column is never changed
        in place: a round writes a new version, which readers see from the next round on.
    needs_data : bool
        False if the columns it reads are all that it needs (AND after its reduction): the source is
        then not touched.
    holes : bool
        Whether the map reads NaN in X as an entry that was not observed. Otherwise NaN is refused.
    then : callable
        ``then(state, stats) -> State``: what follows from the sums of the round. Pure. A phase of an
        algorithm is one place: which rows, which map, what follows.
    """

    map: Callable[[Any, State, Block], Stats]
    rows: Rows = field(default_factory=All)
    name: str = ""
    iteration: bool = False
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    needs_data: bool = True
    holes: bool = False
    then: Callable[[State, Stats], State] = field(kw_only=True)


@dataclass(frozen=True)
class Done:
    """The algorithm has ended: how, and in a sentence why and what to try."""

    outcome: OutcomeKind = "converged"
    message: str = ""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of the data, aligned with their targets, weights and columns.

    ``X`` is a C-contiguous ndarray or a CSR array; ``second`` a second design (rank-one sensing's V).
    ``start`` is the number of its first row, ``ids`` the row numbers of a :class:`Take` block.
    """

    index: int
    start: int
    X: Any
    y: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None
    second: Any = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    ids: NDArray[np.intp] | None = None
    key: tuple[int, int] = (0, 0)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.X is not None:
            return int(self.X.shape[0])
        return int(next(iter(self.columns.values())).shape[0])

    def rng(self) -> np.random.Generator:
        """Randomness that depends on (seed, round, block) alone, never on who computes the block."""
        return np.random.default_rng([*self.key, self.index])


@runtime_checkable
class Algorithm(Protocol):
    """What an algorithm file offers; a frozen dataclass whose fields are its parameters."""

    def init(self, info: Info, seed: int) -> State:
        """State before any data was read."""

    def next_round(self, state: State) -> Round | Done:
        """The next pass over data, or the end."""

    def finish(self, state: State) -> State:
        """Called once when the iterations are over for whatever reason; may ask for closing rounds."""

    def measure(self, state: State) -> Mapping[str, float]:
        """One history row, read after each iteration; ``change`` drives ``tol``, ``error`` the bar."""


# --- statistics that are not sums --------------------------------------------------------------------


@record
class Max:
    """Elementwise maximum."""

    value: Any

    def combine(self, other: Max) -> Max:
        """Larger of the two, entry by entry."""
        return Max(np.maximum(self.value, other.value))


@record
class Min:
    """Elementwise minimum."""

    value: Any

    def combine(self, other: Min) -> Min:
        """Smaller of the two, entry by entry."""
        return Min(np.minimum(self.value, other.value))


@record
class ArgMax:
    """Largest value, the row that has it, and what that row brings along (ties: the lower row)."""

    value: float
    row: int
    payload: Any = None

    def combine(self, other: ArgMax) -> ArgMax:
        """The larger one."""
        if other.value > self.value or (other.value == self.value and other.row < self.row):
            return other
        return self


@record
class TopRows:
    """The ``k`` largest values with their rows and payload rows, largest first (ties: the lower row)."""

    k: int
    values: Any
    rows: Any
    payload: Any

    def combine(self, other: TopRows) -> TopRows:
        """The k largest of both."""
        values = np.concatenate([self.values, other.values])
        rows = np.concatenate([self.rows, other.rows])
        order = np.lexsort((rows, -values))[: self.k]
        payload = np.concatenate([self.payload, other.payload])
        return TopRows(self.k, values[order], rows[order], payload[order])


@record
class Concat:
    """Rows in order, for small samples: the blocks' arrays one below the other."""

    value: Any

    def combine(self, other: Concat) -> Concat:
        """This above the other."""
        return Concat(np.concatenate([self.value, other.value]))


def combine(left: Stats, right: Stats) -> Stats:
    """Combine the contributions of two neighbouring runs of blocks (left one first).

    Arrays and numbers are added, leaves with a ``combine`` method combine themselves, tuples and
    dicts entry by entry; two Nones are None. Arrays of ``left`` are added into: the engine owns what
    a map returned.
    """
    if isinstance(left, np.ndarray) and left.flags.writeable and left.shape == np.shape(right):
        left += right
        return left
    if isinstance(left, tuple):
        return tuple(combine(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        return {key: combine(value, right[key]) for key, value in left.items()}
    if hasattr(left, "combine"):
        return left.combine(right)
    return None if left is None else left + right
