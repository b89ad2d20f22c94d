"""Lint of the tests: each asserts something or expects an error, and none asserts what can't fail.

    python tests/check_tests.py

A test without an assertion passes whatever the program does. ``assert not (a and b)`` passes wherever ``a``
is never true, and so does ``if a: assert not b`` where nothing else is asserted: such a test has to show that
its case occurs, and then say ``assert not b``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("tests", "lab/tests")
# Calls that fail where nothing goes wrong.
EXPECTING = ("raises", "warns", "fail", "deprecated_call")


def main() -> int:
    """Print what is wrong; the number of faults is the exit code's reason."""
    faults = [
        fault
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("test_*.py"))
        for fault in of(file)
    ]
    print("\n".join(faults) or "tests: each can fail")
    return 1 if faults else 0


def of(file: Path) -> list[str]:
    """Faults of one file."""
    tree = ast.parse(file.read_text())
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    where = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
    faults = []
    for name, node in functions.items():
        if name.startswith("test_") and not asserts(node, functions, {name}):
            faults.append(f"{where}:{node.lineno}: {name} asserts nothing")
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and never_fails(node.test):
            faults.append(f"{where}:{node.lineno}: `assert not (a and b)` holds where a is never true")
    return faults


def asserts(node: ast.AST, functions: dict[str, ast.FunctionDef], seen: set[str]) -> bool:
    """Whether a function asserts, itself or through a helper of its file, and not only if something holds."""
    for inner in _always(node):
        if isinstance(inner, ast.Assert):
            return True
        name = inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", "")
        if name.startswith(("assert_", "check_")) or name in EXPECTING or _checked(inner):
            return True
        if name in functions and name not in seen and asserts(functions[name], functions, seen | {name}):
            return True
    return False


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """All below a node but for what stands under an ``if`` without ``else``."""
    yield node
    skipped = isinstance(node, ast.If) and not node.orelse
    for child in [node.test] if skipped else ast.iter_child_nodes(node):  # type: ignore[attr-defined]
        yield from _always(child)


def _checked(node: ast.AST) -> bool:
    """``check(estimator)`` of scikit-learn, and ``subprocess.run(..., check=True)``."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "check":
        return True
    return any(
        keyword.arg == "check" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in node.keywords
    )


def never_fails(test: ast.expr) -> bool:
    """Constants, ``not (a and b)``, and its other spelling ``not a or not b``."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return all(isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not) for part in test.values)
    return (
        isinstance(test, ast.UnaryOp)
        and isinstance(test.op, ast.Not)
        and isinstance(test.operand, ast.BoolOp)
        and isinstance(test.operand.op, ast.And)
    )


if __name__ == "__main__":
    sys.exit(main())
