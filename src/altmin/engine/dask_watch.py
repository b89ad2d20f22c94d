"""Whether a cluster is still there: workers that are gone for good, tasks that a restart has forgotten."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError, Future
from typing import Any

_PROBE_SECONDS = 2.0
PATIENCE = "altmin.no-workers-timeout"
"""Key of Dask's configuration: how long a fit waits for workers; 60 seconds unless it is set."""


class ClusterError(RuntimeError):
    """The cluster is gone; the message says what happened and how to go on."""


class ClusterWatch:
    """Asks the scheduler now and then, while a fit waits for its workers.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    """

    def __init__(self, client: Any) -> None:
        import dask
        from dask.utils import parse_timedelta

        self._client = client
        self._patience = float(parse_timedelta(dask.config.get(PATIENCE, "60s")))
        self._probe: Future[Any] | None = None
        self._asked = self._alive = time.monotonic()

    def look(self, keys: list[str]) -> None:
        """Raise ClusterError where nobody has been there for too long, CancelledError for forgotten tasks.

        Parameters
        ----------
        keys : list of str
            Tasks that are waited for.
        """
        now = time.monotonic()
        if self._client.status in ("closed", "closing"):
            raise ClusterError("the client of the Dask cluster was closed during the fit")
        if self._probe is not None and self._probe.done():
            probe, self._probe = self._probe, None
            if not probe.cancelled() and probe.exception() is None:
                n_workers, known = probe.result()
                self._alive = now if n_workers else self._alive
                if not known:  # a restart of the cluster forgets what was submitted while it went on
                    raise CancelledError
        if now - self._alive > self._patience:
            raise ClusterError(
                f"the Dask cluster has had no workers for {self._patience:.0f} seconds "
                f"(dask.config key {PATIENCE!r})"
            )
        if self._probe is None and now - self._asked > _PROBE_SECONDS:
            self._asked = now
            question = self._client._run_on_scheduler(_workers_and_tasks, keys)
            self._probe = asyncio.run_coroutine_threadsafe(question, self._client.loop.asyncio_loop)


def _workers_and_tasks(keys: list[str], dask_scheduler: Any) -> tuple[int, bool]:
    return len(dask_scheduler.workers), all(key in dask_scheduler.tasks for key in keys)
