"""The container of model files and checkpoints: a stored zip of .npy arrays and one JSON manifest.

Nothing in it can run code, any zip tool can list it, and every array carries its sha256. Members are
stored, never compressed, so a file cannot unfold into more memory than its own size.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from altmin.io.records import flatten, restore

FORMAT = "altmin"
VERSION = 1
_MANIFEST = "manifest.json"
_HEADER_LIMIT = 10_000
_KINDS = "biufcSU"  # numbers, truth values and strings; no objects, no records of bytes
# What zipfile, json and NumPy raise on bytes that nobody wrote on purpose.
DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError,
    SyntaxError, TypeError, ValueError, struct.error, tokenize.TokenError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class OneLineError(ValueError):
    """An error whose message is one line, whatever it quotes."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class ContainerError(OneLineError):
    """A file that is not a sound altmin container; the message says what is wrong with it."""


def write_container(path: str | os.PathLike[str], tree: Any, meta: dict[str, Any]) -> None:
    """Write a tree of records and arrays, atomically: a reader sees the old file or the new one.

    Parameters
    ----------
    path : path-like
        Where to; replaced only once the new content is on disk.
    tree : object
        What :func:`altmin.io.records.flatten` takes.
    meta : dict
        JSON-ready facts that a reader may want before the arrays.
    """
    path = Path(path)
    structure, arrays = flatten(tree)
    members = []
    for array in arrays:
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
        members.append(buffer.getvalue())
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "meta": meta,
        "structure": structure,
        "sha256": [hashlib.sha256(member).hexdigest() for member in members],
    }
    text = json.dumps(manifest, allow_nan=False).encode()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(_MANIFEST, text)
                archive.writestr("manifest.sha256", hashlib.sha256(text).hexdigest())
                for number, member in enumerate(members):
                    archive.writestr(f"arrays/{number}.npy", member)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def read_container(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a container, or say why not.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    tree : object
        As written.
    meta : dict
        As written.

    Raises
    ------
    ContainerError
        Not a container, damaged, or of a newer version.
    FileNotFoundError
        No such file.
    """
    with _opened(path) as archive:
        manifest = _read_manifest(archive)
        _check_total(archive, Path(path).stat().st_size)
        arrays = [
            _read_array(archive, f"arrays/{number}.npy", digest)
            for number, digest in enumerate(manifest["sha256"])
        ]
        return restore(manifest["structure"], arrays), manifest["meta"]


def read_meta(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The facts beside the arrays, without reading the arrays.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict
        As written.
    """
    with _opened(path) as archive:
        meta = _read_manifest(archive)["meta"]
        if not isinstance(meta, dict):
            raise ContainerError(f"{path} is damaged: its facts are no table")
        return meta


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    """The file as a zip; whatever goes wrong while it is read becomes a ContainerError with a reason."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (ContainerError, FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except zipfile.BadZipFile as error:
        raise ContainerError(f"{path} is {_what_is(path)}, not a sound file of altmin") from error
    except DAMAGE as error:
        raise ContainerError(f"{path} is damaged: {error}") from error


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    text = _member(archive, _MANIFEST)
    if hashlib.sha256(text).hexdigest().encode() != _member(archive, "manifest.sha256"):
        raise ContainerError(f"{archive.filename} is damaged: its manifest doesn't match its checksum")
    manifest = json.loads(text)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ContainerError(f"{archive.filename} is a zip file, but not a file of altmin")
    if not isinstance(manifest.get("version"), int):
        raise ContainerError(f"{archive.filename} is damaged: it names no format version")
    if manifest["version"] > VERSION:
        raise ContainerError(
            f"{archive.filename} has format version {manifest['version']}; this altmin reads up to "
            f"{VERSION}: upgrade it"
        )
    return manifest


def _check_total(archive: zipfile.ZipFile, size: int) -> None:
    """Members lie side by side: together they can't be larger than the file (overlaps could)."""
    total = sum(info.file_size for info in archive.infolist())
    if total > size:
        raise ContainerError(f"{archive.filename} announces {total} bytes and has {size}")


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    size = Path(archive.filename or "").stat().st_size
    if info.file_size > size:
        raise ContainerError(f"member {name} announces {info.file_size} bytes, the file has {size}")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ContainerError(f"member {name} is compressed; altmin stores its members, so this is refused")
    return archive.read(info)


def _read_array(archive: zipfile.ZipFile, name: str, digest: str) -> np.ndarray:
    data = _member(archive, name)
    if hashlib.sha256(data).hexdigest() != digest:
        raise ContainerError(f"{archive.filename} is damaged: {name} doesn't match its checksum")
    buffer = io.BytesIO(data)
    version = np.lib.format.read_magic(buffer)
    if version != (1, 0):
        raise ContainerError(f"{name} has an unknown .npy version {version}")
    shape, _, dtype = np.lib.format.read_array_header_1_0(buffer, max_header_size=_HEADER_LIMIT)
    if dtype.hasobject:
        raise ContainerError(f"{name} holds pickled objects; they are refused")
    if dtype.kind not in _KINDS:
        raise ContainerError(f"{name} holds {dtype}, neither numbers nor strings; it is refused")
    size = dtype.itemsize * int(np.prod([int(side) for side in shape], dtype=object))
    if size != len(data) - buffer.tell():
        raise ContainerError(f"{name} announces {size} bytes and has {len(data) - buffer.tell()}")
    buffer.seek(0)
    return np.lib.format.read_array(buffer, allow_pickle=False)


def _what_is(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4)
    if not head:
        return "empty"
    if head[:1] == b"\x80":
        return "a pickle (altmin never loads pickles: they can run code)"
    return "a truncated zip file" if head == b"PK\x03\x04" else "no zip file"


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
