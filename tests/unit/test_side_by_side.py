"""Calls side by side: the calling thread helps, errors come where results are asked for."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from altmin.engine import plan
from altmin.engine.reduce import map_in_order
from altmin.engine.side_by_side import Begun, at_once, side_by_side


@contextmanager
def busy_thread():
    """A pool whose only thread has something else to do until the context ends."""
    leave = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(leave.wait, 5)  # not for ever, should nobody help
        try:
            yield pool
        finally:
            leave.set()


def here():
    return threading.get_ident()


def broken(word):
    raise ValueError(word)


def test_the_calling_thread_makes_what_no_other_one_has_begun():
    with busy_thread() as pool:
        begun = Begun(pool, (), here)
        assert begun.result() == here()
        assert begun.result() == here()  # asked twice, made once


def test_while_another_thread_is_at_a_call_the_calling_one_works_on_the_others():
    leave, beside = threading.Event(), []
    with ThreadPoolExecutor(1) as pool:
        first = Begun(pool, beside, leave.wait, 5)
        while first._future._state == "PENDING":
            pass
        beside += [first, Begun(pool, (), leave.set), Begun(pool, (), here)]
        assert first.result()  # it ends because the second call was made here
        assert leave.is_set()


def test_items_come_in_order_though_the_only_other_thread_is_busy():
    with busy_thread() as pool:
        found = list(map_in_order(lambda item: (item, here()), range(5), pool, 3))
    assert found == [(item, (item, here())) for item in range(5)]


def test_the_error_of_the_first_item_is_raised_whoever_met_another_one_before():
    with busy_thread() as pool, pytest.raises(ValueError, match="2"):
        for item, _ in map_in_order(lambda item: item if item < 2 else broken(str(item)), range(5), pool, 4):
            assert item < 2


def test_an_error_is_for_who_asks_for_the_result():
    begun = at_once(broken, "here")
    with pytest.raises(ValueError, match="here"):
        begun.result()
    with side_by_side(2) as begin:
        begun = begin(broken, "there")
        with pytest.raises(ValueError, match="there"):
            begun.result()


def test_one_job_needs_no_thread_and_more_have_the_calling_one_among_them(monkeypatch):
    made = []
    monkeypatch.setattr(
        "altmin.engine.side_by_side.ThreadPoolExecutor", lambda n: made.append(n) or ThreadPoolExecutor(n)
    )
    with side_by_side(1) as begin:
        assert begin(here).result() == here()
    assert made == []
    monkeypatch.setattr(plan, "granted_threads", lambda: 4)
    for n_jobs in (3, None):
        with side_by_side(n_jobs) as begin:
            assert [begun.result() for begun in [begin(pow, 2, k) for k in range(9)]] == [
                2**k for k in range(9)
            ]
    assert made == [2, 3]


def test_a_call_that_has_been_made_holds_its_arguments_no_longer():
    begun = at_once(sum, [1, 2])
    assert begun.arguments == ()
    assert begun.result() == 3
