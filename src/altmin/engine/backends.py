"""Where the rounds of a fit run: in threads of this process, or on the workers of a Dask cluster."""

from __future__ import annotations

from contextlib import ExitStack

from altmin.engine.cursor import Cursor
from altmin.engine.dask_client import active_client, chosen_client
from altmin.engine.dask_rounds import DaskRounds
from altmin.engine.local import LocalRounds
from altmin.engine.plan import Plan
from altmin.engine.sources import AnySource


def choose_backend(
    plan: Plan, cursor: Cursor, source: AnySource, stack: ExitStack
) -> LocalRounds | DaskRounds:
    """The cluster that :func:`altmin.engine.dask_client.on_cluster` names, or the one on which the rows
    already are; threads of this process otherwise, and always for a one-way stream.

    Parameters
    ----------
    plan : Plan
        The grid and the number of threads.
    cursor : Cursor
        Which rows a round reads.
    source : Source or StreamSource
        The data.
    stack : ExitStack
        Ends the threads.

    Returns
    -------
    LocalRounds or DaskRounds
        What runs a round; both give the same bits.
    """
    local = LocalRounds(plan, cursor, stack)
    client = chosen_client() or (active_client() if source.on_workers else None)
    if client is None or not source.replayable:
        return local
    return DaskRounds(plan, cursor, source.require_replayable("a cluster"), client, local)
