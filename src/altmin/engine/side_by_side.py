"""Calls side by side: the calling thread works, too, on what no other thread has begun.

So n jobs are n threads that all compute. One more that only hands out and waits would take its time from the
others each time that it wakes up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

from altmin.engine.plan import allowed_threads
from altmin.engine.threads import one_thread


def other_threads(n_threads: int, stack: ExitStack) -> Executor | None:
    """The threads beside the calling one, which end with the stack; None where there are none."""
    return stack.enter_context(ThreadPoolExecutor(n_threads - 1)) if n_threads > 1 else None


class Begun:
    """A call that some thread makes: another one or, where all of those are busy, the one that asks for it.

    Parameters
    ----------
    pool : Executor or None
        The other threads; None: the call is made here and now.
    beside : collection of Begun
        Calls to work on while another thread is at this one.
    call : callable
        The call.
    arguments : object
        Its arguments.
    """

    def __init__(
        self, pool: Executor | None, beside: Collection[Begun], call: Callable[..., Any], *arguments: Any
    ) -> None:
        self._beside, self._call, self.arguments = beside, call, arguments
        self._future: Future[Any] = pool.submit(call, *arguments) if pool else Future()
        if pool is None:
            self._here()
            self.arguments = ()  # they may be large

    def result(self) -> Any:
        """What the call gave, or its error."""
        for begun in (self, *self._beside):
            if self._future.done():
                break
            begun._here()
        result = self._future.result()
        self.arguments = ()
        return result

    def cancel(self) -> None:
        """Nobody asks for it any more."""
        self._future.cancel()

    def _here(self) -> None:
        """Make the call now if no thread has begun it; an error is for who asks for the result."""
        if self._future.cancel():
            self._future = Future()
            try:
                self._future.set_result(self._call(*self.arguments))
            except Exception as error:
                self._future.set_exception(error)


Begin: TypeAlias = Callable[..., Begun]
"""``begin(call, *arguments)``."""


def at_once(call: Callable[..., Any], *arguments: Any) -> Begun:
    """Begin a call here and now."""
    return Begun(None, (), call, *arguments)


@contextmanager
def side_by_side(n_jobs: int | None) -> Iterator[Begin]:
    """A context that gives ``begin(call, *arguments)``, for calls that don't depend on each other.

    Each has one thread of BLAS, so results are the same bits for any number of jobs. For one job a call is
    made where it begins.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn; None means all the threads that BLAS may use.

    Yields
    ------
    callable
        Its answer is :class:`Begun`.
    """
    begun: list[Begun] = []

    def begin(call: Callable[..., Any], *arguments: Any) -> Begun:
        begun.append(Begun(pool, begun, call, *arguments))
        return begun[-1]

    with ExitStack() as stack:
        stack.enter_context(one_thread())
        pool = other_threads(allowed_threads(n_jobs), stack)
        yield begin
