"""Ten thousand damaged and forged files: none crashes, none runs code, none becomes a garbage model."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import io
import json
import os
import pickle
import struct
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, in_children, promise

import altmin
from altmin.datasets import make_dir, make_quadratic
from altmin.engine.checkpoint import Checkpoint, CheckpointError
from altmin.io.container import ContainerError, read_container, write_container
from altmin.io.records import flatten

FILES = 10_000
Rng = np.random.Generator


class Bomb:
    """Unpickled, it leaves a mark in the environment."""

    def __reduce__(self) -> Any:
        return os.putenv, ("ALTMIN_WAS_FOOLED", "1")


def _digest(tree: Any) -> str:
    structure, arrays = flatten(tree)
    found = hashlib.sha256(json.dumps(structure, sort_keys=True).encode())
    for array in arrays:
        found.update(array.dtype.str.encode() + repr(array.shape).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _model_digest(path: Path) -> str:
    model = altmin.load(path)
    return _digest({k: None if k == "random_state" else v for k, v in vars(model).items()})


def _checkpoint_digest(path: Path) -> str:
    """The checkpoint file as the only one of its folder, read as a resumed fit reads it."""
    found = Checkpoint(path.parent, _KEY).load()
    if found is None:
        raise ContainerError("no checkpoint")
    return _digest({"saved": found[0], "columns": found[1]})


_KEY = "k" * 64


# --- damage: the result has to be refused, or to be what was saved --------------------------------------


def _truncate(data: bytes, rng: Rng) -> bytes:
    return data[: rng.integers(len(data))]


def _flip(data: bytes, rng: Rng) -> bytes:
    damaged = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 9)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def _overwrite(data: bytes, rng: Rng) -> bytes:
    start, length = rng.integers(len(data)), int(rng.integers(1, 400))
    return data[:start] + rng.bytes(length) + data[start + length :]


def _splice(data: bytes, rng: Rng) -> bytes:
    a, b = sorted(rng.integers(len(data), size=2))
    return data[:a] + data[b:] if rng.integers(2) else data[:b] + data[a:]


def _sizes(data: bytes, rng: Rng) -> bytes:
    """Sizes, offsets and counts of the zip's own headers that announce more than there is."""
    damaged = bytearray(data)
    marks = [i for i in range(len(data) - 46) if data[i : i + 4] in (b"PK\x01\x02", b"PK\x03\x04")]
    place = marks[rng.integers(len(marks))]
    field = place + (20 if data[place + 2] == 1 else 18) + 4 * int(rng.integers(2))
    struct.pack_into("<I", damaged, field, int(rng.integers(2**28, 2**32)))
    return bytes(damaged)


# --- forgery: checksums are right, the content is hostile; has to be refused ----------------------------


def _rewritten(
    data: bytes, change: Callable[[dict[str, Any], dict[str, bytes]], None], **zipped: Any
) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    numbers = [n for n in range(len(members)) if f"arrays/{n}.npy" in members]
    manifest["sha256"] = [hashlib.sha256(members[f"arrays/{n}.npy"]).hexdigest() for n in numbers]
    members["manifest.json"] = json.dumps(manifest).encode()
    members["manifest.sha256"] = hashlib.sha256(members["manifest.json"]).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **zipped) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def _array(descr: Any, shape: tuple[int, ...], body: bytes) -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue() + body


def _forge_array(data: bytes, rng: Rng) -> bytes:
    """An array that announces terabytes, holds a pickle, or has a header without end."""
    bombs = [
        _array("<f8", (int(rng.integers(10**9, 10**15)),), rng.bytes(64)),
        _array("<f8", (-2, -4), rng.bytes(64)),
        _array("|O", (1,), pickle.dumps([Bomb()])),
        pickle.dumps(Bomb()),
        b"\x93NUMPY\x01\x00" + struct.pack("<H", 60_000) + b"(" * 60_000,
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{}",
        _array("|V8", (8,), rng.bytes(64)),
    ]
    forged = bombs[rng.integers(len(bombs))]
    return _rewritten(data, lambda manifest, members: members.update({"arrays/0.npy": forged}))


def _forge_structure(data: bytes, rng: Rng) -> bytes:
    """A manifest that names code, unknown records, arrays that aren't there, or nests without end."""
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    hostile = [
        {"$": "record", "type": "os.system", "fields": {"command": "true"}},
        {"$": "record", "type": "builtins.eval", "fields": {}},
        {"$": "array", "array": 10**9},
        {"$": "array", "array": -1},
        {"$": "call", "function": "os.system"},
        {"$": "csr", "arrays": [0, 0, 0], "shape": [10**12, 10**12]},
        {"$": "record", "type": "altmin.engine.checkpoint.Saved", "fields": {"state": 1}},
        deep,
        [],
    ]
    change = {"structure": hostile[rng.integers(len(hostile))]}
    if rng.integers(4) == 0:
        change = {"version": int(rng.integers(2, 1000))}
    return _rewritten(data, lambda manifest, members: manifest.update(change))


def _forge_meta(data: bytes, rng: Rng) -> bytes:
    names = ["os.system", "save", "load", "omp", "__import__", 7, None, ["AND"], {"a": 1}]
    change = {"meta": {"estimator": names[rng.integers(len(names))], "key": "other"}}
    return _rewritten(data, lambda manifest, members: manifest.update(change))


def _forge_bomb(data: bytes, rng: Rng) -> bytes:
    """A member that unfolds: a megabyte of zeros in a kilobyte."""
    big = _array("<f8", (125_000,), bytes(1_000_000))
    return _rewritten(
        data,
        lambda manifest, members: members.update({"arrays/0.npy": big}),
        compression=zipfile.ZIP_DEFLATED,
    )


def _forge_pickle(data: bytes, rng: Rng) -> bytes:
    return pickle.dumps(Bomb(), protocol=int(rng.integers(0, 6)))


DAMAGE = (_truncate, _flip, _overwrite, _splice, _sizes)
FORGERY = (_forge_array, _forge_structure, _forge_meta, _forge_bomb, _forge_pickle)


def _originals(folder: Path) -> list[tuple[bytes, Callable[[Path], str], str, str]]:
    """Model and checkpoint files with how they are read, what comes out, and under which name."""
    X = make_dir(60, 8, 3, random_state=0).X
    quadratic = make_quadratic(400, 4, 1, random_state=0)
    models = [
        altmin.AND(3, max_iter=5, random_state=0).fit(X),
        altmin.FactorizationMachineRegressor(1, random_state=0, max_iter=3).fit(quadratic.X, quadratic.y),
        altmin.AND(3),
    ]
    found = []
    for number, model in enumerate(models):
        path = folder / f"{number}.altmin"
        altmin.save(model, path)
        found.append((path.read_bytes(), _model_digest, _model_digest(path), "m.altmin"))
    (folder / "run").mkdir()
    altmin.AND(3, max_iter=5, init=X[:3] + 0.1, checkpoint=folder / "run").fit(X)
    saved, _ = read_container(max((folder / "run").glob("checkpoint-*"), key=os.path.getmtime))
    (folder / "one").mkdir()
    path = folder / "one" / "checkpoint-0.altmin"
    write_container(path, replace(saved, columns={}), {"key": _KEY})
    found.append((path.read_bytes(), _checkpoint_digest, _checkpoint_digest(path), path.name))
    return found


def _forge_attribute(data: bytes, rng: Rng) -> bytes:
    """A fitted attribute that isn't what it should be: not finite, of another shape, no numbers."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        fitted = json.loads(archive.read("manifest.json"))["structure"].get("items", {}).get("fitted")
        public = {} if fitted is None else fitted["items"]
        places = [value["array"] for key, value in public.items() if key in ("components_", "factors_")]
        if not places:
            return _forge_structure(data, rng)
        name = f"arrays/{places[rng.integers(len(places))]}.npy"
        array = np.load(io.BytesIO(archive.read(name)))
    bad = array.copy()
    bad.flat[rng.integers(bad.size)] = (np.nan, np.inf, -np.inf)[rng.integers(3)]
    forged = (bad, bad, array.astype("U6"), array[:, :-1], array[0], array[:0], array + 1j * array)
    return _rewritten(data, lambda _, members: members.update({name: _saved(forged[rng.integers(7)])}))


def _saved(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def _forge_anything(data: bytes, rng: Rng) -> bytes:
    """Any array of the file, private ones too, with another shape: it may load, and mustn't end a process."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        if not names:
            return data
        name = names[rng.integers(len(names))]
        array = np.load(io.BytesIO(archive.read(name)))
    forged = (array[:1], array[:0], array[None], array.ravel(), np.concatenate([array.ravel()] * 3))
    return _rewritten(data, lambda _, members: members.update({name: _saved(forged[rng.integers(5)])}))


FORGERY = (*FORGERY, _forge_attribute, _forge_anything)


@promise
def ten_thousand_bad_files() -> Iterator[Figure]:
    """10,000 hostile model and checkpoint files: no signal, no code run, no garbage, a reason for each."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's about duplicate names
        folder = Path(name)
        originals = _originals(folder)
        target = folder / "target"
        target.mkdir()

        def task(turn: int) -> str:
            rng = np.random.default_rng([seed, turn])
            data, read, wanted, filename = originals[rng.integers(len(originals))]
            acts = FORGERY if turn % 2 else DAMAGE
            act = acts[rng.integers(len(acts))]
            path = target / filename
            path.write_bytes(act(data, rng))
            try:
                same = read(path) == wanted
                kind = "unharmed" if same else "accepted"
                if act is _forge_anything:
                    kind = _used(path) if filename == "m.altmin" else "unharmed"
            except (ContainerError, CheckpointError) as error:
                kind = "refused" if len(str(error)) > 20 and "\n" not in str(error) else "mute"
            except BaseException as error:
                kind = f"crashed {error!r}"
            if _fooled():
                kind = "ran code"
            return f"{kind}, {act.__name__}"

        found = in_children(task, FILES)
    for turn, line in enumerate(found):
        if line.split()[0] not in ("refused,", "unharmed,"):
            print(f"seed {seed}, file {turn}: {line}", flush=True)
    counts = Counter(line.split()[0].strip(",") for line in found)
    yield Figure("files", len(found), at_least=FILES)
    yield Figure("refused with a reason", counts["refused"])
    yield Figure("damage that changes nothing (a bit of the zip's bookkeeping)", counts["unharmed"])
    yield Figure("processes that died", counts["signal"] + counts["ended"], at_most=0)
    yield Figure("other errors", counts["crashed"], at_most=0)
    yield Figure("code run", counts["ran"], at_most=0)
    yield Figure("accepted with other content", counts["accepted"], at_most=0)
    yield Figure("refusals without a reason in one line", counts["mute"], at_most=0)


def _used(path: Path) -> str:
    """A model whose inner arrays were forged is put to work: errors are allowed, an end isn't."""
    model, X = altmin.load(path), np.random.default_rng(0).random((50, 8))
    width = getattr(model, "n_features_in_", 8)
    for act in ("transform", "predict", "partial_fit"):
        rows = (
            (X[:, :width], X[:, 0]) if act == "partial_fit" and hasattr(model, "predict") else (X[:, :width],)
        )
        with contextlib.suppress(Exception):
            getattr(model, act)(*rows)
    return "unharmed"


def _fooled() -> bool:
    """Whether a file's code ran; putenv leaves no trace in os.environ, so C is asked."""
    look = ctypes.CDLL(None).getenv
    look.restype = ctypes.c_char_p
    return look(b"ALTMIN_WAS_FOOLED") is not None
