"""Records: frozen dataclasses that can be written to a file and read back without running code.

``flatten`` turns a tree of records, dicts, tuples, scalars and arrays into JSON plus a list of
arrays; ``restore`` is its inverse. Only classes marked with ``@record`` are ever rebuilt, by name
from a registry, so a file cannot make the reader import or call anything.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import numpy as np
import scipy.sparse as sp

T = TypeVar("T")
_REGISTRY: dict[str, type] = {}
_PLAIN = (str, int, float, bool, type(None))


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a frozen dataclass that checkpoints and model files can hold.

    Parameters
    ----------
    cls : type
        A class with annotated fields.

    Returns
    -------
    type
        The dataclass, known to :func:`restore` by its module and name.
    """
    made = dataclasses.dataclass(frozen=True)(cls)
    _REGISTRY[_name(made)] = made
    return made


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _find(name: str) -> type:
    """The record type of a file's name; one that moved to another module since is known by its own name."""
    if name in _REGISTRY:
        return _REGISTRY[name]
    moved = [cls for cls in _REGISTRY.values() if cls.__qualname__ == name.rpartition(".")[2]]
    if len(moved) != 1 or not name.startswith("altmin."):
        raise ValueError(f"unknown record type {name!r}")
    return moved[0]


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
    def store(array: np.ndarray) -> int:
        arrays.append(array)
        return len(arrays) - 1

    if isinstance(node, np.generic):
        return {"$": "scalar", "array": store(np.asarray(node))}
    if isinstance(node, float) and not np.isfinite(node):
        return {"$": "float", "value": repr(node)}
    if isinstance(node, _PLAIN):
        return node
    if isinstance(node, np.ndarray):
        if node.dtype == object:
            raise TypeError("an array of Python objects cannot be stored without pickle")
        return {"$": "array", "array": store(node)}
    if sp.issparse(node):
        csr = sp.csr_array(node)
        parts = [store(part) for part in (csr.data, csr.indices, csr.indptr)]
        return {"$": "csr", "arrays": parts, "shape": list(csr.shape)}
    if dataclasses.is_dataclass(node) and _name(type(node)) in _REGISTRY:
        fields = {f.name: _flatten(getattr(node, f.name), arrays) for f in dataclasses.fields(node)}
        return {"$": "record", "type": _name(type(node)), "fields": fields}
    if isinstance(node, tuple):
        return {"$": "tuple", "items": [_flatten(item, arrays) for item in node]}
    if isinstance(node, list):
        return [_flatten(item, arrays) for item in node]
    if isinstance(node, dict):
        if not all(isinstance(key, str) for key in node):
            raise TypeError("only dicts with string keys can be stored")
        return {"$": "dict", "items": {key: _flatten(value, arrays) for key, value in node.items()}}
    raise TypeError(f"a {type(node).__name__} cannot be stored in a file of altmin")


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
        return sp.csr_array(parts, shape=tuple(node["shape"]))
    if kind == "tuple":
        return tuple(_restore(item, arrays) for item in node["items"])
    if kind == "dict":
        return {str(key): _restore(value, arrays) for key, value in node["items"].items()}
    if kind == "record":
        cls = _find(node["type"])
        return cls(**{key: _restore(value, arrays) for key, value in node["fields"].items()})
    raise ValueError(f"unknown node {kind!r}")
