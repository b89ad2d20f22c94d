"""Any result as lines of text: words and whole numbers as they are, arrays by their shape and a few sums.

A number is written with eight digits and read again with a tolerance far above rounding, so that another BLAS
or an older NumPy agrees and a bug doesn't.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

# Ten times and more above what differs between the kernels of OpenBLAS; of float32, a hundred times as wide.
RELATIVE = 1e-4
NOTHING = 1e-6  # what rounding leaves of a zero
LARGE = 1e9  # a number divided by what rounding leaves
PASSING = ("seconds", "time", "model", "look", "n_threads")  # of this machine, or described elsewhere


def describe(thing: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(name, text) of everything in a result, in a fixed order."""
    if _flat(thing):
        yield name, _line(thing)
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            if key not in PASSING:
                yield from describe(value, f"{name}.{key}".lstrip("."))
    elif is_dataclass(thing):
        yield from describe({field.name: getattr(thing, field.name) for field in fields(thing)}, name)
    elif sp.issparse(thing):
        yield from describe(thing.toarray(), name)
    elif isinstance(thing, np.ndarray) and thing.ndim:
        yield name, _array(thing)
    elif isinstance(thing, list | tuple | frozenset | set):
        items = sorted(thing) if isinstance(thing, frozenset | set) else thing
        for index, value in enumerate(items):
            yield from describe(value, f"{name}[{index}]")
        yield f"{name}.length", str(len(items))


def _scalar(thing: Any) -> str | None:
    if isinstance(thing, float | np.floating) or (isinstance(thing, np.ndarray) and not thing.ndim):
        return number(float(thing))
    if isinstance(thing, bool | int | str | np.integer | np.bool_ | type(None)):
        return " ".join(str(thing).split())
    return None


def _flat(thing: Any) -> bool:
    """What stands on one line: a number, a word, or a few of them."""
    items = (
        thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list | tuple) else [thing]
    )
    return all(_scalar(item) is not None for item in items)


def _line(thing: Any) -> str:
    if isinstance(thing, dict):
        return ", ".join(f"{key} {_scalar(value)}" for key, value in thing.items() if key not in PASSING)
    return ", ".join(str(_scalar(item)) for item in (thing if isinstance(thing, list | tuple) else [thing]))


def number(value: float) -> str:
    """Eight digits, marked as a number by its point."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) > LARGE:
        return "large"
    return "0.0" if abs(value) < NOTHING else f"{value:.7e}"


def _array(values: np.ndarray) -> str:
    """Kind, shape, and what any change of an entry or of their order changes."""
    head = f"{values.dtype} {'x'.join(map(str, values.shape))}"
    if values.dtype.kind in "OUS":
        return f"{head}: {' '.join(' '.join(map(str, values.ravel())).split())}"
    flat = values.ravel()
    if values.dtype.kind in "iub":
        flat = flat.astype(np.int64)
        return f"{head}: {flat.sum()} {(flat * (1 + np.arange(len(flat)) % 97)).sum()}"
    if values.dtype.kind == "c":
        flat = np.concatenate([flat.real, flat.imag])
    known = np.isfinite(flat)
    flat = np.where(known, flat, 0.0).astype(np.float64)
    size = float(np.linalg.norm(flat))
    angles = np.arange(1, len(flat) + 1)
    sums = [float(flat @ wave(angles)) / size if size >= NOTHING else 0.0 for wave in (np.cos, np.sin)]
    return f"{head} finite {known.sum()}: {' '.join(map(number, (size, *sums)))}"


def differences(found: list[tuple[str, str]], kept: Mapping[str, str]) -> list[str]:
    """What isn't as it was, one line each."""
    told = [
        f"{name}: {text}, was {kept.get(name, 'not there')}"
        for name, text in found
        if name not in kept or not _same(text, kept[name])
    ]
    gone = set(kept) - {name for name, _ in found}
    return told + [f"{name}: is gone, was {kept[name]}" for name in sorted(gone)]


def _same(one: str, other: str) -> bool:
    words, kept = (text.replace(",", " ,").split() for text in (one, other))
    relative = 100 * RELATIVE if "float32" in kept else RELATIVE
    nothing = relative if "finite" in kept else NOTHING  # sums of an array are told in units of its size
    return len(words) == len(kept) and all(
        a == b or ("." in a and "." in b and _near(a, b, relative, nothing))
        for a, b in zip(words, kept, strict=True)
    )


def _near(one: str, other: str, relative: float, nothing: float) -> bool:
    try:
        a, b = float(one), float(other)
    except ValueError:
        return False
    return abs(a - b) <= relative * max(abs(a), abs(b)) + nothing
