"""Records: frozen dataclasses that can be written to a file and read back without running code.

``flatten`` turns a tree of records, dicts, tuples, scalars and arrays into JSON plus a list of
arrays; ``restore`` is its inverse. Only classes marked with ``@record`` are ever rebuilt, by tag
from a registry, so a file cannot make the reader import or call anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

import numpy as np
import scipy.sparse as sp

from altmin.io.sparse_structure import csr_from_parts

T = TypeVar("T")
_REGISTRY: dict[str, type] = {}
_TAGS: dict[type, str] = {}
_PLAIN = (str, int, float, bool, type(None))


@overload
def record(cls: type[T], *, tag: str | None = None) -> type[T]: ...


@overload
def record(cls: None = None, *, tag: str | None = None) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True)
def record(cls: Any = None, *, tag: str | None = None) -> Any:
    """Make a frozen dataclass that checkpoints and model files can hold.

    Parameters
    ----------
    cls : type
        A class with annotated fields.
    tag : str, optional
        What files call it; by default its own name. A class that is renamed keeps its old tag, so that
        files written before are still read. Moving a class to another module changes nothing.

    Returns
    -------
    type
        The dataclass, known to :func:`restore` by its tag.
    """
    if cls is None:
        return lambda found: record(found, tag=tag)
    made = dataclasses.dataclass(frozen=True)(cls)
    home = f"{made.__module__}.{made.__qualname__}"
    # Classes of other packages are known by their full name, so that they can't take one of ours.
    tag = tag or (made.__qualname__ if made.__module__.startswith("altmin.") else home)
    known = _REGISTRY.get(tag)
    if known is not None and f"{known.__module__}.{known.__qualname__}" != home:
        raise TypeError(
            f"two records are tagged {tag!r}: {known.__module__}.{known.__qualname__} and {home}; "
            "give one of them a tag of its own with @record(tag=...)"
        )
    _REGISTRY[tag], _TAGS[made] = made, tag
    return made


def replace(state: T, **changes: Any) -> T:
    """The record with other values in some fields.

    What `dataclasses.replace` does, in a tenth of the time: a short fit does it a hundred times. No record
    computes anything when it is made.
    """
    fields = vars(state)
    if not changes.keys() <= fields.keys():
        raise TypeError(f"{type(state).__name__} has no field {sorted(changes.keys() - fields.keys())[0]!r}")
    made = object.__new__(type(state))
    vars(made).update(fields, **changes)
    return made


def _find(name: str) -> type:
    """The record type of a tag; files of the first versions hold the full name of a class instead."""
    tag = name if name in _REGISTRY else name.rpartition(".")[2] if name.startswith("altmin.") else name
    if tag not in _REGISTRY:
        raise ValueError(f"unknown record type {name!r}")
    return _REGISTRY[tag]


def flatten(tree: Any) -> tuple[Any, list[np.ndarray]]:
    """Split a tree into JSON-ready structure and the arrays that it refers to by number.

    Parameters
    ----------
    tree : object
        Records, dicts with string keys, tuples, lists, numbers, strings, None, NumPy arrays and
        scalars, SciPy sparse arrays.

    Returns
    -------
    structure : object
        What ``json.dumps`` takes.
    arrays : list of ndarray
        The arrays, in the order of their numbers.
    """
    arrays: list[np.ndarray] = []
    return _flatten(tree, arrays), arrays


def _flatten(node: Any, arrays: list[np.ndarray]) -> Any:
    # Functions of the module: one inside another that calls itself would keep the arrays alive.
    if isinstance(node, np.generic | np.ndarray) or sp.issparse(node):
        return _flatten_array(node, arrays)
    if isinstance(node, float) and not np.isfinite(node):
        return {"$": "float", "value": repr(node)}
    if isinstance(node, _PLAIN):
        return node
    if type(node) in _TAGS:
        fields = {f.name: _flatten(getattr(node, f.name), arrays) for f in dataclasses.fields(node)}
        return {"$": "record", "type": _TAGS[type(node)], "fields": fields}
    return _flatten_group(node, arrays)


def _flatten_group(node: Any, arrays: list[np.ndarray]) -> Any:
    """A tuple, a list or a dict."""
    if isinstance(node, tuple):
        return {"$": "tuple", "items": [_flatten(item, arrays) for item in node]}
    if isinstance(node, list):
        return [_flatten(item, arrays) for item in node]
    if not isinstance(node, dict):
        raise TypeError(f"a {type(node).__name__} cannot be stored in a file of altmin")
    if not all(isinstance(key, str) for key in node):
        raise TypeError("only dicts with string keys can be stored")
    return {"$": "dict", "items": {key: _flatten(value, arrays) for key, value in node.items()}}


def _flatten_array(node: Any, arrays: list[np.ndarray]) -> dict[str, Any]:
    """An array, a NumPy scalar or a sparse array: its numbers in the list of arrays."""
    if sp.issparse(node):
        csr = sp.csr_array(node)
        first = len(arrays)
        arrays.extend((csr.data, csr.indices, csr.indptr))
        return {"$": "csr", "arrays": [first, first + 1, first + 2], "shape": list(csr.shape)}
    if node.dtype == object:
        raise TypeError("an array of Python objects cannot be stored without pickle")
    arrays.append(np.asarray(node))
    return {"$": "array" if isinstance(node, np.ndarray) else "scalar", "array": len(arrays) - 1}


def restore(structure: Any, arrays: list[np.ndarray]) -> Any:
    """Rebuild the tree that :func:`flatten` split.

    Parameters
    ----------
    structure : object
        The JSON part.
    arrays : list of ndarray
        The arrays.

    Returns
    -------
    object
        The tree. A structure that :func:`flatten` cannot have written raises ValueError.
    """
    try:
        return _restore(structure, arrays)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"the structure of the file is damaged: {error}") from error


def _restore(node: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(node, list):
        return [_restore(item, arrays) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("$")
    if kind == "array":
        return arrays[node["array"]]
    if kind == "scalar":
        return arrays[node["array"]][()]
    if kind == "float":
        return float(node["value"])
    if kind == "csr":
        parts = tuple(arrays[number] for number in node["arrays"])
        return csr_from_parts(parts, tuple(node["shape"]))
    if kind == "tuple":
        return tuple(_restore(item, arrays) for item in node["items"])
    if kind == "dict":
        return {str(key): _restore(value, arrays) for key, value in node["items"].items()}
    if kind == "record":
        cls = _find(node["type"])
        return cls(**{key: _restore(value, arrays) for key, value in node["fields"].items()})
    raise ValueError(f"unknown node {kind!r}")
