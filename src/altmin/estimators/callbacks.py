"""scikit-learn's callbacks (``set_callbacks``, from version 1.9 on, experimental): all of it in one file.

Where scikit-learn has no callbacks, the mixin is empty and progress is the engine's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from altmin.engine.progress import Progress
from altmin.estimators.sklearn_bridge import callback_management_context


class CallbackProgress:
    """Tells scikit-learn's callbacks of each iteration, and the engine's progress line too."""

    def __init__(self, estimator: Any, inner: Progress) -> None:
        self._estimator, self._inner = estimator, inner
        self._root: Any = None

    def begin(self, plan: str, max_iter: int | None) -> None:
        """The fit starts."""
        self._root = self._estimator._init_callback_context(max_subtasks=max_iter)
        self._root.call_on_fit_task_begin(estimator=self._estimator)
        self._inner.begin(plan, max_iter)

    def round(self, name: str, share: float) -> None:
        """Part of a pass is done: callbacks are not told, they live by iterations."""
        self._inner.round(name, share)

    def iteration(self, n_iter: int, measures: Mapping[str, Any]) -> bool:
        """An iteration has ended; a callback that answers True ends the fit."""
        task = self._root.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self._estimator)
        stop = task.call_on_fit_task_end(estimator=self._estimator, metadata=dict(measures))
        return self._inner.iteration(n_iter, measures) or stop

    def end(self, outcome: str) -> None:
        """The fit is over."""
        self._root.call_on_fit_task_end(estimator=self._estimator)
        self._inner.end(outcome)


@contextmanager
def with_callbacks(estimator: Any, inner: Progress) -> Iterator[Progress]:
    """The progress of a fit: scikit-learn's callbacks where some are set, the engine's own otherwise."""
    if not getattr(estimator, "_skl_callbacks", None) or callback_management_context is None:
        yield inner
        return
    with callback_management_context(estimator):
        yield CallbackProgress(estimator, inner)
