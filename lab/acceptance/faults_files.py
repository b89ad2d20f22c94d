"""A thousand hostile tables: none ends a process, none is taken for what it isn't, each has a reason."""

from __future__ import annotations

import io
import json
import shutil
import struct
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from harness import Figure, in_children, promise

from altmin import AND
from altmin.cli.tables import read_table
from altmin.datasets import make_dir

FILES = 1000
Rng = np.random.Generator
X = np.round(make_dir(300, 6, 2, random_state=0).X, 6)
SPARSE = sp.csr_array(np.where(X > 0.2, X, 0.0))


def _bytes(write: Callable[[Any], Any]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _npy(array: Any) -> bytes:
    return _bytes(lambda out: np.save(out, array, allow_pickle=True))


def _announcing(shape: tuple[int, ...], descr: Any = "<f8") -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue() + bytes(800)


def _npz(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return out.getvalue()


def _parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return _bytes(lambda out: pq.write_table(pa.table(columns), out))


def _csv(rows: Any = X) -> bytes:
    return ("a,b,c,d,e,f\n" + "\n".join(",".join(map(repr, map(float, row))) for row in rows) + "\n").encode()


def _astray(rng: Rng) -> bytes:
    """Sparse indices or pointers that lead out of the matrix."""
    parts = {"data": SPARSE.data, "indices": SPARSE.indices.copy(), "indptr": SPARSE.indptr.copy()}
    name = ("indices", "indptr")[rng.integers(2)]
    parts[name][rng.integers(len(parts[name]))] = int(rng.choice([-1, -(10**6), 6, 10**6, 2**31 - 1]))
    named = {"format": np.array(b"csr"), "shape": np.array(SPARSE.shape), **parts}
    return _npz(**{key: _npy(value) for key, value in named.items()})


FRAME = {name: X[:, j] for j, name in enumerate("abcdef")}
SOUND: dict[str, bytes] = {
    ".npy": _npy(X),
    ".npz": _bytes(lambda out: np.savez_compressed(out, X=X)),
    " sparse.npz": _bytes(lambda out: sp.save_npz(out, SPARSE)),
    ".parquet": _parquet(FRAME),
    ".mtx": _bytes(lambda out: scipy.io.mmwrite(out, SPARSE)),
    ".csv": _csv(),
}


# --- content that has to be refused ----------------------------------------------------------------------


def _hostile(rng: Rng) -> tuple[str, bytes]:
    """A file that is sound as a file, and whose content isn't a table of finite numbers."""
    bad = X.copy()
    bad[rng.integers(len(X)), rng.integers(6)] = (np.nan, np.inf, -np.inf)[rng.integers(3)]
    huge = tuple(int(side) for side in 10 ** rng.integers(5, 18, 2))
    kinds = np.dtype([("a", "f8"), ("b", "f8")])
    wrong = (
        X + 1j, X.astype("U8"), X[:, 0], X[:, :, None], X[:0], X[:, :0], bad, bad,
        X.astype(object), X[:, 0].astype(kinds), X.astype("M8[s]"), np.float64(3.0),
    )  # fmt: skip
    array = wrong[rng.integers(len(wrong))]
    shapes = (huge, (-3, 6), (300, -6), (2**62, 2**62), (0, 6), (300,))
    shape = shapes[rng.integers(len(shapes))]
    line = int(rng.integers(1, 300))
    lines = _csv().splitlines()
    cells = (b"1,2", b"1,2,3,4,5,6,7", b"x,1,1,1,1,1", b"nan,1,1,1,1,1", b"1e999,1,1,1,1,1", b'"1,2,3\n4,5,6')
    lines[line] = cells[rng.integers(len(cells))]
    text = _csv()
    mtx = SOUND[".mtx"].splitlines()
    mtx[-1] = (b"400 1 1.0", b"1 9 1.0", b"0 1 1.0", b"-1 1 1.0", b"1 1 x", b"1 1 nan")[rng.integers(6)]
    return (
        (".npy", _npy(array)),
        (".npz", _npz(X=_npy(array))),
        (".npy", _announcing(shape)),
        (".npz", _npz(X=_announcing(shape))),
        (".npz", _npz(a=_npy(X), b=_npy(X))),
        (".npz", _astray(rng)),
        (".npz", _astray(rng)),
        (".parquet", _parquet({**FRAME, "g": ["x"] * len(X)})),
        (".parquet", _parquet({**FRAME, "a": bad[:, int(np.argmin(np.isfinite(bad).all(0)))]})),
        (".csv", b"\n".join(lines)),
        (".csv", text.replace(b"a,b,c", b"a,b,a")),
        (".csv", rng.bytes(500)),
        (".mtx", b"\n".join(mtx)),
        (".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 60_000) + b"(" * 60_000),
    )[rng.integers(14)]


def _hostile_zarr(rng: Rng, folder: Path) -> Path:
    """A store whose description was changed, or whose chunks are damaged."""
    import zarr

    path = folder / "x.zarr"
    shutil.rmtree(path, ignore_errors=True)
    array = zarr.create_array(str(path), shape=X.shape, chunks=(64, 6), dtype="f8")
    array[:] = X
    description = path / "zarr.json"
    found = json.loads(description.read_text())
    act = int(rng.integers(6))
    if act == 0:
        found["shape"] = [int(10 ** rng.integers(8, 17)), 6]
    elif act == 1:
        found["shape"] = [(-5, 6), (300,), (300, 6, 1), "x", (300, 0)][rng.integers(5)]
    elif act == 2:
        found["data_type"] = ("object", "complex128", "no such", "bool", 7)[rng.integers(5)]
    elif act == 3:
        description.write_bytes(rng.bytes(200))
        return path
    elif act == 4:
        found["codecs"] = [{"name": ("python", "pickle", "zip")[rng.integers(3)]}]
    else:
        chunks = sorted(file for file in (path / "c").rglob("*") if file.is_file())
        file = chunks[rng.integers(len(chunks))]
        file.write_bytes(file.read_bytes()[: rng.integers(1, 20)])
    description.write_text(json.dumps(found))
    return path


# --- damage: refused, or read as what is there --------------------------------------------------------


def _damaged(rng: Rng) -> tuple[str, bytes]:
    kind = list(SOUND)[rng.integers(len(SOUND))]
    data = bytearray(SOUND[kind])
    match int(rng.integers(4)):
        case 0:
            return kind, bytes(data[: rng.integers(len(data))])
        case 1:
            for place in rng.integers(len(data), size=rng.integers(1, 9)):
                data[place] ^= 1 << int(rng.integers(8))
        case 2:
            start = int(rng.integers(len(data)))
            data[start : start + 60] = rng.bytes(60)
        case _:
            a, b = sorted(rng.integers(len(data), size=2))
            del data[a:b]
    return kind, bytes(data)


def _outcome(path: Path) -> str:
    """How reading, checking and fitting the table ends."""
    given: Any = read_table(str(path)).X if path.suffix in (".csv", ".mtx") else str(path)
    model = AND(2, max_iter=1, random_state=0).fit(given)
    numbers = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    finite = all(np.isfinite(array).all() for array in numbers if array.dtype.kind == "f")
    return "accepted" if finite else "not finite"


@promise
def a_thousand_hostile_tables() -> Iterator[Figure]:
    """1,000 hostile tables in processes of their own: no signal, none accepted, a reason in one line each.

    Half of them are damaged at random. Most formats hold no checksum, so damage that hits numbers alone
    leaves a sound table of other numbers: these are counted, and have to give a finite model.
    """
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    with tempfile.TemporaryDirectory() as name:

        def task(turn: int) -> str:
            warnings.simplefilter("ignore")
            rng, folder = np.random.default_rng([seed, turn]), Path(name)
            hostile = bool(turn % 2)
            if hostile and rng.random() < 0.15:
                path = _hostile_zarr(rng, folder)
            else:
                suffix, data = (_hostile if hostile else _damaged)(rng)
                path = folder / f"x{suffix}"
                path.write_bytes(data)
            try:
                kind = _outcome(path)
            except (ValueError, TypeError) as error:
                kind = "refused" if len(str(error)) > 20 and "\n" not in str(error) else "mute"
                kind += f" {type(error).__name__} {error}"
            except BaseException as error:
                kind = f"crashed {error!r}"
            return f"{'hostile' if hostile else 'damaged'} {kind}, {path.name}"

        found = in_children(task, FILES)
    for turn, line in enumerate(found):
        if not line.startswith(("hostile refused", "damaged refused", "damaged accepted")):
            print(f"seed {seed}, file {turn}: {line[:300]}", flush=True)
    counts = Counter(" ".join(line.split()[:2]).strip(",") for line in found)
    yield Figure("files", len(found), at_least=FILES)
    yield Figure("refused with a reason", counts["hostile refused"] + counts["damaged refused"])
    yield Figure("damaged in their numbers alone, read as they are", counts["damaged accepted"])
    yield Figure("hostile and accepted", counts["hostile accepted"], at_most=0)
    for kind in ("crashed", "mute", "not"):
        total = counts[f"hostile {kind}"] + counts[f"damaged {kind}"]
        yield Figure(f"'{kind}'", total, at_most=0)
    died = sum(line.startswith(("signal", "ended")) for line in found)
    yield Figure("processes that died", died, at_most=0)
