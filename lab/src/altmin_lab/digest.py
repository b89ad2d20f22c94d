"""Which code a claim rests on, and a digest of it: a result is kept until that code changes.

The modules are found by reading import statements, inside functions too, from file to file. A module that
imports by computed names cannot be followed that way: only the three below do, and none of them computes
anything (a test runs claims and compares what they loaded with what is found here).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import altmin
import altmin_lab

ROOTS = {"altmin": Path(altmin.__file__).parent, "altmin_lab": Path(altmin_lab.__file__).parent}
# Names only: the public names by their homes, the list of claims, model files.
TABLES_OF_CONTENTS = ("altmin", "altmin_lab.ledger", "altmin.estimators.model_file")
# Libraries that compute, and peers that are compared with: other versions, other results.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "scikit-image", "spams-bin", "ksvd", "myfm", "bm3d")


@cache
def digest_of(module: str) -> str:
    """Twelve digits that change with the code that a module rests on, or the libraries beneath it.

    Parameters
    ----------
    module : str
        Full name, for example ``altmin_lab.claims.and_theorems``.

    Returns
    -------
    str
        Hexadecimal digits.

    Examples
    --------
    >>> from altmin_lab.digest import digest_of
    >>> len(digest_of("altmin_lab.claims.and_theorems"))
    12
    """
    digest = hashlib.sha256(" ".join(f"{name} {_version(name)}" for name in LIBRARIES).encode())
    for name in sorted(modules_beneath(module)):
        digest.update(name.encode())
        digest.update(_file(name).read_bytes())
    return digest.hexdigest()[:12]


@cache
def modules_beneath(module: str) -> frozenset[str]:
    """Every module of altmin that a module imports, and those that they import, itself included."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in TABLES_OF_CONTENTS:
            found.add(name)
            waiting += _imports(name)
    return frozenset(found)


@cache
def _imports(module: str) -> tuple[str, ...]:
    tree = ast.parse(_file(module).read_bytes())
    names = {name for node in ast.walk(tree) for name in _named(node)}
    parents = {name.rpartition(".")[0] for name in (*names, module)}
    return tuple(name for name in names | parents if _ours(name))


def _named(node: ast.AST) -> Iterator[str]:
    """Modules of altmin that a piece of code asks for."""
    if isinstance(node, ast.Import):
        yield from (_home(alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        if node.level:
            raise ValueError(f"line {node.lineno}: relative imports are not followed")
        if str(node.module).partition(".")[0] in ROOTS:
            yield str(node.module)
            yield from (_home(f"{node.module}.{alias.name}") for alias in node.names)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "altmin":
        yield _home(f"altmin.{node.attr}")


def _ours(name: str) -> bool:
    root, dot, _ = name.partition(".")
    return bool(dot) and root in ROOTS


def _home(name: str) -> str:
    """The module of a dotted name: itself, or where the public name lives; '' for anything else."""
    if _ours(name) and _file(name).exists():
        return name
    return altmin._HOMES.get(name.removeprefix("altmin."), "") if name.startswith("altmin.") else ""


def _file(module: str) -> Path:
    root, *rest = module.split(".")
    path = ROOTS[root].joinpath(*rest)
    return path / "__init__.py" if path.is_dir() else path.with_name(path.name + ".py")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
