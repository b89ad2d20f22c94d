"""Records and containers: what is written comes back, what is damaged is refused with a reason."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from altmin.contract import ArgMax, Max
from altmin.io import records
from altmin.io.container import ContainerError, read_container, read_meta, write_container
from altmin.io.records import flatten, record, replace, restore

TREE = {
    "array": np.arange(6.0).reshape(2, 3),
    "single": np.float32(0.1),
    "tuple": (1, "two", None, True, float("inf")),
    "record": Max(np.array([1, 2])),
    "nested": {"best": ArgMax(1.5, 3, np.zeros(2, np.float32))},
    "empty": np.zeros((0, 4)),
    "list": [1, 2.5],
}


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif hasattr(a, "__dataclass_fields__"):
        same(vars(a), vars(b))
    else:
        assert a == b


def test_a_record_with_another_value_is_a_record_of_its_own():
    old = ArgMax(1.5, 3, "x")
    new = replace(old, row=4)
    assert type(new) is ArgMax and vars(new) == {**vars(old), "row": 4}
    assert old.row == 3 and new != old and replace(new, row=3) == old
    with pytest.raises(AttributeError):
        new.row = 5
    with pytest.raises(TypeError, match="ArgMax has no field 'place'"):
        replace(old, place=4)


def test_a_tree_comes_back_as_it_was(tmp_path):
    structure, arrays = flatten(TREE)
    same(restore(json.loads(json.dumps(structure)), arrays), TREE)
    write_container(tmp_path / "x.altmin", TREE, {"kind": "test"})
    tree, meta = read_container(tmp_path / "x.altmin")
    same(tree, TREE)
    assert meta == {"kind": "test"} == read_meta(tmp_path / "x.altmin")


def test_sparse_arrays_come_back():
    matrix = sp.csr_array(np.triu(np.arange(20.0).reshape(5, 4)))
    structure, arrays = flatten({"m": matrix})
    back = restore(structure, arrays)["m"]
    assert (back != matrix).nnz == 0


@pytest.mark.parametrize("bad", [object(), {1: 2}, np.array([object()]), lambda: None, {1, 2}])
def test_what_cannot_be_stored_safely_is_refused(bad):
    with pytest.raises(TypeError):
        flatten({"x": bad})


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path):
    path = tmp_path / "x.altmin"
    write_container(path, TREE, {})
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.choice(len(good), 200, replace=False):
        data = bytearray(good)
        data[position] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(data))
        try:
            tree, _ = read_container(path)
        except ContainerError:
            continue
        same(tree, TREE)  # a bit of the zip's own bookkeeping that changes nothing


@pytest.mark.parametrize("keep", [0, 1, 10, 100, 0.5, 0.99])
def test_every_truncation_is_noticed(tmp_path, keep):
    path = tmp_path / "x.altmin"
    write_container(path, TREE, {})
    good = path.read_bytes()
    path.write_bytes(good[: keep if isinstance(keep, int) else int(keep * len(good))])
    with pytest.raises(ContainerError):
        read_container(path)


def test_a_pickle_is_refused_by_name(tmp_path):
    (tmp_path / "x.altmin").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(ContainerError, match="pickle"):
        read_container(tmp_path / "x.altmin")


def _forge(path, change=None, compression=zipfile.ZIP_STORED, array=None):
    """A container whose checksums are right and whose content is not."""
    import hashlib

    if array is None:
        buffer = io.BytesIO()
        np.save(buffer, np.zeros(3))
        array = buffer.getvalue()
    manifest = {
        "format": "altmin",
        "version": 1,
        "meta": {},
        "structure": {"$": "array", "array": 0},
        "sha256": [hashlib.sha256(array).hexdigest()],
    }
    manifest.update(change or {})
    text = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("manifest.json", text)
        archive.writestr("manifest.sha256", hashlib.sha256(text).hexdigest())
        archive.writestr("arrays/0.npy", array)


def test_the_forgery_of_these_tests_would_be_read(tmp_path):
    _forge(tmp_path / "x")
    np.testing.assert_array_equal(read_container(tmp_path / "x")[0], np.zeros(3))


def test_a_newer_version_is_refused(tmp_path):
    _forge(tmp_path / "x", {"version": 99})
    with pytest.raises(ContainerError, match="upgrade"):
        read_container(tmp_path / "x")


def test_a_zip_bomb_is_refused(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(1_000_000))
    _forge(tmp_path / "x", compression=zipfile.ZIP_DEFLATED, array=buffer.getvalue())
    with pytest.raises(ContainerError, match="compressed"):
        read_container(tmp_path / "x")


def test_a_stored_member_whose_two_sizes_differ_is_refused(tmp_path):
    """Its checksum is right: what stands behind it in the file belongs to nobody."""
    path = tmp_path / "x"
    _forge(path)
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")  # of the manifest, in the table at the end
    size = int.from_bytes(data[entry + 20 : entry + 24], "little")
    data[entry + 20 : entry + 24] = (size + 1).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(ContainerError, match="is compressed"):
        read_container(path)


def test_an_array_that_announces_more_than_it_has_is_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    _forge(tmp_path / "x", array=header.getvalue() + b"12345678")
    with pytest.raises(ContainerError, match="announces"):
        read_container(tmp_path / "x")


def test_pickled_objects_inside_are_refused(tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.array([object()]), allow_pickle=True)
    _forge(tmp_path / "x", array=buffer.getvalue())
    with pytest.raises(ContainerError, match="pickled"):
        read_container(tmp_path / "x")


def test_unknown_records_are_not_imported(tmp_path):
    _forge(tmp_path / "x", {"structure": {"$": "record", "type": "os.system", "fields": {}}})
    with pytest.raises(ContainerError, match="unknown record"):
        read_container(tmp_path / "x")


def test_a_record_that_has_moved_is_found_by_its_name(tmp_path):
    structure, arrays = flatten(Max(np.arange(3.0)))
    moved = {**structure, "type": "altmin.somewhere.Max"}
    np.testing.assert_array_equal(restore(moved, arrays).value, np.arange(3.0))
    for stranger in ("os.Max", "altmin.contract.system", "system"):
        with pytest.raises(ValueError, match="unknown record"):
            restore({**structure, "type": stranger}, arrays)


def test_files_know_records_by_tags_that_stay(monkeypatch):
    """A tag doesn't say where a class lives, belongs to one class, and outlives a new name of the class."""
    monkeypatch.setattr(records, "_REGISTRY", dict(records._REGISTRY))
    assert flatten(Max(1))[0]["type"] == "Max"

    def declare(name, **options):
        return record(
            type(name, (), {"__annotations__": {"value": int}, "__module__": "altmin.x"}), **options
        )

    with pytest.raises(TypeError, match="two records are tagged 'Max'"):
        declare("Max")
    assert flatten(declare("Largest", tag="OldLargest")(1))[0]["type"] == "OldLargest"
    back = restore({"$": "record", "type": "altmin.gone.OldLargest", "fields": {"value": 2}}, [])
    assert (type(back).__name__, back.value) == ("Largest", 2)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.altmin"
    write_container(path, TREE, {})
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_container(path, {"x": object()}, {})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
