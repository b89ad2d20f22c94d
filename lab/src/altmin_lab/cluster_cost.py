r"""What a fit on a cluster will cost: rounds, bytes on the wire, seconds, memory.

The model is that of AND's stages, whose rounds are those of every family: a pass over n x W entries with two
products by D components, a state and statistics of a few D x W arrays. A round takes

.. math:: t = t_0 + t_1 T + \frac{4 n W D + 2 n D^2}{f P} + \frac{m}{b}, \qquad T = \text{tasks}

with P workers that compute f operations a second each, and m bytes through the driver, which moves b of them
a second.
``docs/scale.md`` has the constants of a machine and what follows for a thousand workers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from altmin.contract import Info
from altmin.engine.dask_rounds import _FAN_IN, _TASKS_PER_WORKER, _TO_DRIVER
from altmin.engine.plan import block_rows

_ENVELOPE = 3000  # bytes of names, numbers and framing around the arrays


@dataclass(frozen=True)
class Machine:
    """Constants of a cluster, as ``lab/acceptance/scale_cost.py`` fits them.

    ``round_seconds`` and ``task_seconds`` are the scheduler's, ``flops`` those of a worker on such products,
    ``bandwidth`` bytes a second of the driver's link, serialisation included.
    """

    round_seconds: float
    task_seconds: float
    flops: float
    bandwidth: float


@dataclass(frozen=True)
class Cost:
    """What a fit will take; bytes and seconds of the whole fit, memory of each process at its peak."""

    rounds: int
    tasks: int
    wire_bytes: float
    seconds: float
    driver_bytes: float
    worker_bytes: float
    shares: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """What takes most of the time."""
        return max(self.shares, key=lambda name: self.shares[name])


def predict_cost(
    n_rows: int,
    n_features: int,
    n_components: int,
    n_workers: int,
    n_iter: int,
    machine: Machine,
    itemsize: int = 4,
) -> Cost:
    """Cost of ``n_iter`` stages over n_rows x n_features on a cluster.

    Parameters
    ----------
    n_rows, n_features, n_components : int
        n, W and D.
    n_workers : int
        P.
    n_iter : int
        Passes.
    machine : Machine
        The cluster.
    itemsize : int
        Bytes of an entry.

    Returns
    -------
    Cost
        With the share of each term in ``shares``.
    """
    dtype = np.dtype(np.float32 if itemsize == 4 else np.float64)
    blocks = -(-n_rows // block_rows(Info(n_features, dtype, n_rows)))
    level = 0
    while -(-blocks // 2**level) > _TASKS_PER_WORKER * n_workers:
        level += 1
    tasks = results = -(-blocks // 2**level)
    joins = 0
    while results > _TO_DRIVER:
        results = -(-results // _FAN_IN)
        joins += results
    # Components, decoder and the given start; products, Gram matrix and a histogram for each component.
    state = (2 * itemsize + 8) * n_components * n_features + _ENVELOPE
    stats = (n_components * n_features + n_components**2) * itemsize + 816 * n_components + _ENVELOPE // 4
    operations = 4.0 * n_rows * n_features * n_components + 2.0 * n_rows * n_components**2
    wire = state * n_workers + stats * results
    parts = {
        "round": machine.round_seconds,
        "scheduler": machine.task_seconds * (tasks + joins),
        "computing": operations / (machine.flops * min(n_workers, tasks)),
        "driver's link": wire / machine.bandwidth,
    }
    seconds = sum(parts.values())
    share = n_rows * n_features * itemsize / n_workers
    depth = int(np.log2(max(results, 1))) + 2
    return Cost(
        rounds=n_iter,
        tasks=tasks,
        wire_bytes=float(n_iter * wire),
        seconds=n_iter * seconds,
        driver_bytes=float(2 * state + depth * stats),
        worker_bytes=float(share + state + depth * stats),
        shares={name: part / seconds for name, part in parts.items()},
    )
