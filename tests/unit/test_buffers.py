"""Memory for rows that are read is used again, and never while somebody looks at it."""

import threading

import numpy as np
import pytest

from altmin.io.buffers import Buffers

SHAPE = (512, 64)
FLOAT32 = np.dtype(np.float32)


def _address(array):
    return array.__array_interface__["data"][0]


def test_memory_is_used_again_when_the_array_is_gone():
    buffers = Buffers()
    first = buffers.empty(SHAPE, FLOAT32)
    where = _address(first)
    del first
    assert _address(buffers.empty(SHAPE, FLOAT32)) == where


@pytest.mark.parametrize(
    "look",
    [
        lambda a: a[3:5, 2:],
        lambda a: a.T[1:],
        lambda a: a.reshape(-1)[::2],
        memoryview,
        lambda a: np.asarray(a)[0],
        lambda a: a.view(np.int32),
    ],
)
def test_memory_is_kept_while_a_view_is_alive(look):
    buffers = Buffers()
    rows = buffers.empty(SHAPE, FLOAT32)
    rows[:] = 7.0
    where, view = _address(rows), look(rows)
    del rows
    other = buffers.empty(SHAPE, FLOAT32)
    other[:] = 1.0
    assert _address(other) != where
    assert np.all(np.asarray(view).view(np.float32) == 7.0)


def test_another_size_gets_its_own_memory_and_leaves_what_is_spare():
    buffers = Buffers()
    where = _address(buffers.empty(SHAPE, FLOAT32))
    tall = buffers.empty((4 * SHAPE[0], SHAPE[1]), FLOAT32)
    assert tall.shape == (4 * SHAPE[0], SHAPE[1])
    assert _address(buffers.empty(SHAPE, FLOAT32)) == where


def test_threads_never_share_memory():
    buffers, wrong = Buffers(), []

    def work(number):
        for turn in range(200):
            rows = buffers.empty(SHAPE, FLOAT32)
            rows[:] = number * 1000 + turn
            if not np.all(rows == number * 1000 + turn):
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_small_arrays_are_left_to_the_allocator():
    buffers = Buffers()
    for _ in range(3):
        small = buffers.empty((10, 10), np.dtype("f8"))
        assert small.shape == (10, 10)
        del small
    assert len(buffers._spare) == 0
    large = buffers.empty((200, 100), np.dtype("f8"))
    del large
    assert len(buffers._spare) == 1
