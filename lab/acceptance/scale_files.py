"""Ten thousand damaged and forged files: none crashes, none runs code, none becomes a garbage model."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import resource
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from harness import Figure, promise

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


@promise
def ten_thousand_bad_files() -> Iterator[Figure]:
    """10,000 fuzzed model and checkpoint files: no crash, no code run, no garbage, a reason for each."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(("refused", "unharmed", "garbage", "accepted", "crashed", "mute"), 0)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's about duplicate names
        folder = Path(name)
        originals = _originals(folder)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        target = folder / "target"
        target.mkdir()
        for turn in range(FILES):
            data, read, wanted, filename = originals[rng.integers(len(originals))]
            forged = bool(turn % 2)
            act = (FORGERY if forged else DAMAGE)[rng.integers(5)]
            path = target / filename
            path.write_bytes(act(data, rng))
            try:
                same = read(path) == wanted
                kind = "accepted" if forged else "unharmed" if same else "garbage"
            except (ContainerError, CheckpointError) as error:
                kind = "refused" if len(str(error)) > 20 else "mute"
            except BaseException as error:
                kind = "crashed"
                print(f"seed {seed}, file {turn}, {act.__name__}: {error!r}", flush=True)
            if kind in ("accepted", "garbage"):
                print(f"seed {seed}, file {turn}, {act.__name__}: {kind}", flush=True)
            counts[kind] += 1
            path.unlink()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield Figure("files", sum(counts.values()), at_least=FILES)
    yield Figure("refused with a reason", counts["refused"])
    yield Figure("damage that changes nothing (a bit of the zip's bookkeeping)", counts["unharmed"])
    yield Figure("crashes", counts["crashed"], at_most=0)
    yield Figure("code run", int("ALTMIN_WAS_FOOLED" in _environment()), at_most=0)
    yield Figure("garbage models, forgeries accepted", counts["garbage"] + counts["accepted"], at_most=0)
    yield Figure("refusals without a reason", counts["mute"], at_most=0)
    yield Figure("growth of the process, MB", grown, at_most=100)


def _environment() -> str:
    """The environment that a child would see: putenv leaves no trace in os.environ."""
    import subprocess

    return subprocess.run(["/usr/bin/env"], capture_output=True, text=True, check=True).stdout
