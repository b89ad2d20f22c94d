"""Every refusal of bad input, with the place it names; the grid, the threads and the memory of a plan."""

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.contract import Block, Info
from altmin.engine import SourceError, checks, plan
from altmin.io.sparse_structure import check_structure, csr_from_parts

F4, F8 = np.dtype("f4"), np.dtype("f8")
GOOD = np.arange(12.0).reshape(4, 3) + 1


def changed(value, row=2, column=1, dtype=F8):
    X = GOOD.astype(dtype)
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    ("dtype", "power", "low", "high"),
    [
        (F8, 1, 0.0, np.finfo(F8).max / 1e6),
        (F4, 1, 0.0, float(np.finfo(F4).max) / 1e6),
        (F8, 2, 1e-152, 1e152),
        (F4, 2, 1e-15, 1e15),
        (F8, 4, 1e-76, 1e76),
        (F4, 4, 1e-15**0.5, 1e15**0.5),
    ],
)
def test_the_range_in_which_powers_can_be_summed(dtype, power, low, high):
    assert checks.working_range(dtype, power) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"X": np.ones(4)}, r"X has 1 dimension\(s\); 2 are needed"),
        ({"X": np.ones((4, 0))}, r"X has 0 feature\(s\) \(shape=\(4, 0\)\)"),
        ({"X": GOOD * 1j}, "X is complex"),
        ({"X": GOOD.astype(str)}, "X holds <U.*numbers are needed"),
        ({"second": np.ones((4, 0))}, r"X \(second\) has 0 feature"),
        ({"second": np.ones((3, 2))}, "the second design has 3 rows, the first has 4"),
        ({"y": np.ones((4, 1))}, r"y has the shape \(4, 1\)"),
        ({"y": np.ones(3)}, "y has 3 rows, X has 4"),
        ({"y": np.ones(4) * 1j}, "y is complex"),
        ({"weight": np.ones(5)}, "sample_weight has 5 rows, X has 4"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(parts, reason):
    checks.check_table(GOOD, np.ones(4), np.ones(4), GOOD)
    with pytest.raises(SourceError, match=reason):
        checks.check_table(**{"X": GOOD, "y": np.ones(4), "weight": np.ones(4), "second": GOOD, **parts})


def test_weights_that_are_all_zero_are_refused():
    checks.check_weights(None)
    checks.check_weights(np.array([0.0, 1.0]))
    checks.check_weights(np.zeros(0))
    with pytest.raises(SourceError, match="sample_weight is zero for every row"):
        checks.check_weights(np.zeros(3))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"X": changed(np.nan)}, r"X contains NaN at row 102, column 1 \(row 2 of block 7\)"),
        ({"X": changed(np.inf)}, r"X contains infinity \(inf\) at row 102, column 1"),
        ({"X": changed(-np.inf, 0, 2)}, r"infinity \(inf\) at row 100, column 2"),
        ({"X": changed(np.nan), "ids": np.array([3, 5, 8, 9])}, "NaN at row 8, column 1"),
        ({"X": sp.csr_array(changed(np.nan))}, "NaN at row 102, column 1"),
        ({"y": np.array([1, 2, 3, np.nan])}, r"y contains NaN at row 103 \(row 3"),
        ({"weight": np.array([1, np.nan, 1, 1])}, "sample_weight contains NaN at row 101"),
        ({"weight": np.array([1, 1, -0.5, 1])}, r"sample_weight is negative \(-0.5\) at row 102"),
        ({"second": changed(np.nan, 1, 0)}, r"X \(second\) contains NaN at row 101, column 0"),
        ({"X": changed(1e303)}, r"X holds a value of magnitude 1e\+303 in block 7 \(from row 100 on\)"),
        ({"X": changed(1e33, dtype=F4)}, "values above 3e\\+32 are too large.*float32.*2.\\*\\*109"),
        ({"y": np.array([1, 1e303, 1, 1])}, "y holds a value of magnitude 1e"),
    ],
)
@pytest.mark.parametrize("known", [False, True])
def test_values_that_cannot_be_used_are_named(parts, reason, known):
    whole = {"X": GOOD, "y": np.ones(4), "weight": np.ones(4), "second": GOOD, **parts}
    given = [whole[name] for name in ("X", "y", "weight", "second")]
    sizes = tuple(float(np.abs(part).max()) for part in given) if known else None
    block = Block(7, 100, whole["X"], whole["y"], whole["weight"], whole["second"], ids=whole.get("ids"))
    with pytest.raises(SourceError, match=reason):
        checks.check_values(block, largest=sizes)


def test_higher_powers_are_refused_earlier_and_holes_are_allowed_where_asked():
    block = Block(0, 0, changed(1e100), np.full(4, 1e100))
    found = checks.check_values(block, power=2)
    assert 0 < found[0] <= 1e100
    with pytest.raises(SourceError, match="values above 1e\\+76 are too large"):
        checks.check_values(block, power=4)
    assert (
        checks.check_values(Block(0, 0, GOOD, np.full(4, 1e100)), power=4)[1] == 1e100
    )  # squares of y at most
    assert checks.check_values(Block(0, 0, changed(np.nan)), holes=True)[0] == 12.0
    with pytest.raises(SourceError, match="infinity"):
        checks.check_values(Block(0, 0, changed(np.inf)), holes=True)
    assert checks.check_values(Block(0, 0, np.arange(6).reshape(2, 3)))[0] == 0.0  # whole numbers are fine


@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("power", [1, 2, 4])
@pytest.mark.parametrize("part", ["X", "y", "second"])
@pytest.mark.parametrize("n", [2, 300])
def test_the_largest_value_decides_whatever_stands_beside_it(dtype, power, part, n):
    """One entry just below the limit and just above it, alone among small ones."""
    highest = checks.working_range(dtype, min(power, 2) if part == "y" else power)[1]

    def look(value):
        values = np.ones((n, 3), dtype)
        values[n // 2, 1] = value
        parts = {"X": np.ones((n, 3), dtype), part: values[:, 1] if part == "y" else values}
        return checks.check_values(Block(0, 0, **parts), power=power)

    for share in (1e-3, 0.99):
        assert 1.0 <= look(share * highest)[int(part == "y")] <= highest
    for share in (1.01, 2.0, 9.0):
        with pytest.raises(SourceError, match="too large to be summed up"):
            look(share * highest)


@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("power", [2, 4])
def test_the_smallest_data_that_are_taken(dtype, power):
    """Near the end of the range of squares, the largest magnitude is read from the values."""
    low = checks.working_range(dtype, power)[0]
    for share in (0.5, 0.99, 1.01, 1.9, 2.1):
        values = np.zeros((50, 2), dtype)
        values[7, 1] = share * low
        largest = checks.check_values(Block(0, 0, values), power=power)
        assert largest[0] == values[7, 1] if share < 2 else 0 < largest[0] <= values[7, 1]
        if share < 1:
            with pytest.raises(SourceError, match="Multiply X by a power of two"):
                checks.check_smallest(largest, dtype, power)
        else:
            checks.check_smallest(largest, dtype, power)


def test_the_largest_value_is_exact_where_it_is_small():
    tiny = np.full((4, 3), 1e-160)
    tiny[1, 1] = 3e-155
    assert checks.check_values(Block(0, 0, tiny, tiny[:, 1]), power=2).tolist() == [3e-155, 3e-155]
    assert checks.check_values(Block(0, 0, np.ones((4, 3)), second=tiny), power=2)[0] == 1.0


@pytest.mark.parametrize(
    ("largest", "dtype", "power", "reason"),
    [
        ((1e-153, 1.0), F8, 2, "X: the largest magnitude is 1e-153; .* 2.\\*\\*508"),
        ((1.0, 1e-16), F4, 2, "y: the largest magnitude is 1e-16"),
        ((1e-77, 1.0), F8, 4, "X: the largest magnitude"),
    ],
)
def test_data_that_vanish_are_refused(largest, dtype, power, reason):
    checks.check_smallest(np.zeros(2), dtype, power)
    checks.check_smallest(np.array([1.0, 1e-100]), F8, 4)
    checks.check_smallest(np.array([1e-300, 1e-300]), F8, 1)
    with pytest.raises(SourceError, match=reason):
        checks.check_smallest(np.array(largest), dtype, power)


def test_masks_and_damaged_matrices_are_refused():
    checks.check_given(np.ma.masked_array(GOOD, mask=False))
    with pytest.raises(SourceError, match="masked array"):
        checks.check_given(np.ma.masked_array(GOOD, mask=GOOD > 3))
    damaged = sp.csr_array(GOOD)
    damaged.indices[0] = 9
    with pytest.raises(SourceError, match="damaged sparse matrix"):
        checks.check_given(damaged)
    astray = sp.coo_array(GOOD)
    astray.col[2] = -1
    with pytest.raises(ValueError, match="out of range"):
        check_structure(astray)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"shape": (4,)}, "can't have the shape"),
        ({"shape": (4, -3)}, "can't have the shape"),
        ({"indices": np.zeros(12)}, "its indices integers"),
        ({"indptr": np.zeros(5)}, "its indices integers"),
        ({"data": np.ones((12, 1))}, "one-dimensional"),
        ({"indices": np.full(12, 3)}, ""),
    ],
)
def test_parts_of_a_sparse_matrix_are_checked(change, reason):
    good = sp.csr_array(GOOD)
    parts = {"data": good.data, "indices": good.indices, "indptr": good.indptr, "shape": (4, 3)}
    shape = parts.pop("shape")
    assert (csr_from_parts(tuple(parts.values()), shape) != good).nnz == 0
    shape = change.get("shape", shape)
    with pytest.raises(ValueError, match=reason):
        csr_from_parts(tuple({**parts, **{k: v for k, v in change.items() if k != "shape"}}.values()), shape)


def test_errors_of_others_name_the_argument():
    with pytest.raises(ValueError, match=r"^y: bad$"), checks.naming("y"):
        raise ValueError("bad")
    with pytest.raises(TypeError, match=r"^y: bad$"), checks.naming("y"):
        raise TypeError("bad")
    with pytest.raises(ValueError, match=r"^the y is bad$"), checks.naming("y"):
        raise ValueError("the y is bad")


@pytest.mark.parametrize(
    ("info", "rows"),
    [
        (Info(100, F8), 2048),  # 2 MiB hold 2,621
        (Info(100, F4), 4096),
        (Info(50, F8, second_features=50), 2048),
        (Info(1, F8), 8192),
        (Info(100_000, F8), 256),
        (Info(100_000, F8, sparse=True), 4096),
    ],
)
def test_blocks_have_the_power_of_two_that_fits(info, rows):
    assert plan.block_rows(info) == rows


def test_blocks_in_flight():
    assert [plan.in_flight(n) for n in (1, 2, 4, 8, 16, 32)] == [8, 16, 32, 32, 32, 64]


def test_threads_are_those_that_were_granted(monkeypatch):
    monkeypatch.setattr(plan, "granted_threads", lambda: 6)
    assert [plan.allowed_threads(n) for n in (None, 3, -1, -2, -6, -9)] == [6, 3, 6, 5, 1, 1]


@pytest.mark.parametrize(
    ("options", "peak"),
    [
        ({}, 2 * 2048 * 800),
        ({"held": 1000}, 1000 + 2 * 2048 * 800),
        ({"on_disk": True}, 3 * 2048 * 800 + (64 << 20)),
        ({"n_jobs": 4}, 8 * 2048 * 800),
        ({"n_jobs": 4, "on_disk": True}, 32 * 2048 * 800 + 8 * 2048 * 800 + (64 << 20)),
        ({"info": Info(100, F8, 500)}, 2 * 500 * 800),
        ({"info": Info(100, F8, None, replayable=False)}, 3 * 2048 * 800),
        ({"info": Info(100, F8, 500), "on_disk": True}, 3 * 500 * 800 + 500 * 800),
        ({"info": Info(100, F8, 10**6, sparse=True, row_entries=5.0)}, 3 * 4096 * 60),
    ],
)
def test_the_memory_of_a_plan(options, peak):
    asked = {"info": Info(100, F8, 10**6), "n_jobs": 1, **options}
    found = plan.make_plan(**asked)
    assert found.peak_bytes == (8 << 20) + peak
    assert found.n_threads == asked["n_jobs"]
    assert f"{found.block_rows:,} rows" in str(found)
