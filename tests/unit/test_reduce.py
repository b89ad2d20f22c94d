"""The fixed tree: same bits whatever the grouping, right answers for every kind of statistic."""

from concurrent.futures import Future

import numpy as np
import pytest

from altmin.contract import ArgMax, Concat, Max, Min, TopRows, combine
from altmin.engine.reduce import Tree, map_in_order, runs


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 37])
def test_the_tree_sums_everything(n):
    tree = Tree()
    for i in range(n):
        tree.push(np.array([float(i)]))
    assert tree.result()[0] == n * (n - 1) / 2


class Word:
    """A statistic that shows who was combined with whom, in which order."""

    def __init__(self, text):
        self.text = text

    def combine(self, other):
        return Word(f"({self.text}{other.text})")


TREES = {
    1: "0", 2: "(01)", 3: "((01)2)", 4: "((01)(23))", 5: "(((01)(23))4)", 6: "(((01)(23))(45))",
    7: "(((01)(23))((45)6))", 8: "(((01)(23))((45)(67)))", 9: "((((01)(23))((45)(67)))8)",
}  # fmt: skip


@pytest.mark.parametrize("n", TREES)
def test_blocks_are_combined_in_one_order(n):
    tree = Tree()
    for i in range(n):
        tree.push(Word(str(i)))
    assert tree.result().text == TREES[n]


def test_an_empty_tree_has_no_result():
    assert Tree().result() is None


@pytest.mark.parametrize("level", [1, 2, 3])
def test_aligned_groups_give_the_same_bits(level):
    values = [np.random.default_rng(i).standard_normal(5) * 10.0 ** (i % 7) for i in range(53)]
    whole = Tree()
    for value in values:
        whole.push(value.copy())
    grouped, size = Tree(), 2**level
    for low in range(0, len(values), size):
        group = values[low : low + size]
        part = Tree()
        for value in group:
            part.push(value.copy())
        if len(group) == size:
            grouped.push(part.result(), level)
        else:  # the ragged end goes up as single blocks
            for value in group:
                grouped.push(value.copy())
    np.testing.assert_array_equal(whole.result(), grouped.result())


def test_leaves_combine_as_they_should():
    left = {
        "sum": np.ones(2),
        "number": 1.0,
        "max": Max(np.array([1.0, 5.0])),
        "min": Min(np.array([1.0, 5.0])),
        "arg": ArgMax(3.0, 7, "a"),
        "rows": Concat(np.zeros((1, 2))),
        "top": TopRows(2, np.array([5.0, 1.0]), np.array([0, 1]), np.eye(2)),
    }
    right = {
        "sum": np.full(2, 2.0),
        "number": 2.0,
        "max": Max(np.array([2.0, 4.0])),
        "min": Min(np.array([2.0, 4.0])),
        "arg": ArgMax(3.0, 2, "b"),
        "rows": Concat(np.ones((2, 2))),
        "top": TopRows(2, np.array([5.0, 3.0]), np.array([9, 8]), 2 * np.eye(2)),
    }
    both = combine(left, right)
    np.testing.assert_array_equal(both["sum"], [3, 3])
    assert both["number"] == 3.0
    np.testing.assert_array_equal(both["max"].value, [2, 5])
    np.testing.assert_array_equal(both["min"].value, [1, 4])
    assert both["arg"].payload == "b"  # the lower row wins a tie
    assert both["rows"].value.shape == (3, 2)
    np.testing.assert_array_equal(both["top"].rows, [0, 9])


@pytest.mark.parametrize("ahead", [1, 3, 8])
def test_as_many_blocks_are_under_way_as_asked_for_and_come_in_order(ahead):
    asked = []

    class Pool:
        def submit(self, call, block):
            asked.append(block)
            future = Future()
            future.set_result(call(block))
            return future

    found = map_in_order(lambda block: 10 * block, iter(range(12)), Pool(), ahead)
    assert next(found) == (0, 0)
    assert asked == list(range(ahead))
    assert list(found) == [(block, 10 * block) for block in range(1, 12)]
    assert list(map_in_order(lambda block: -block, iter(range(3)), None, ahead)) == [(0, 0), (1, -1), (2, -2)]


def test_runs_are_long_at_first_and_single_blocks_at_the_end():
    found = [len(run) for run in runs(range(25), 25, 2, 4)]
    assert found == [4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    assert [len(run) for run in runs(range(5), 5, 1, 4)] == [1] * 5  # one thread hands nothing over


@pytest.mark.parametrize("n_threads", [2, 3, 8])
@pytest.mark.parametrize("longest", [1, 2, 4, 16])
@pytest.mark.parametrize("n", [1, 7, 25, 64, 100])
def test_runs_in_the_tree_give_what_blocks_give(n, longest, n_threads):
    whole, tree, seen = Tree(), Tree(), []
    for i in range(n):
        whole.push(Word(str(i)))
    for run in runs(range(n), n, n_threads, longest):
        seen += run
        assert len(run) <= longest
        part = Tree()
        for i in run:
            part.push(Word(str(i)))
        for level, word in part.levels:
            tree.push(word, level)
    assert seen == list(range(n))
    assert tree.result().text == whole.result().text


def test_fewer_blocks_than_were_expected_leave_a_ragged_run():
    tree = Tree()
    for run in runs(range(6), 40, 2, 4):  # a stream that ends early
        part = Tree()
        for i in run:
            part.push(Word(str(i)))
        for level, word in part.levels:
            tree.push(word, level)
    assert tree.result().text == TREES[6]
