"""Memory for rows that are read, used again once nobody looks at them.

Fresh memory comes from the system page by page, each zeroed on its first touch, and goes back when a block is
done: on a cold file that was a third of a fit's processor time.
"""

from __future__ import annotations

import weakref
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SPARE = 64
_LEAST_BYTES = 1 << 16  # below it the allocator keeps memory itself


class Buffers:
    """Arrays like those of ``numpy.empty``, in memory that earlier ones no longer need."""

    def __init__(self) -> None:
        self._spare: deque[NDArray[np.uint8]] = deque(maxlen=_SPARE)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """An array with any values. Its memory is taken again when it and all views of it are gone."""
        count = int(np.prod(shape, dtype=np.int64))
        size = count * dtype.itemsize
        if size < _LEAST_BYTES:
            return np.empty(shape, dtype)
        memory = self._take(size)
        # Views refer to this array, as what is below it is no array: so it lives as long as they do.
        whole = np.frombuffer(memory.data, dtype, count)
        weakref.finalize(whole, self._give_back, memory).atexit = False
        return whole.reshape(shape)

    def _take(self, size: int) -> NDArray[np.uint8]:
        for _ in range(len(self._spare)):
            with suppress(IndexError):  # another thread was faster
                memory = self._spare.popleft()
                if size <= len(memory) <= 2 * size:
                    return memory
                self._give_back(memory)
        return np.empty(size, np.uint8)

    def _give_back(self, memory: NDArray[np.uint8]) -> None:
        self._spare.append(memory)  # no lock: it may run inside any allocation
