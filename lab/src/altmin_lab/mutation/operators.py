"""Plausible bugs as replacements of source text: what a tired person could write, and a reviewer overlook."""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What only people look at: a picture that is a little larger is no wrong program.
PRESENTATION = ("plots", "demo")
FLIPPED = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
SWAPPED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
OPPOSITE = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax",
    "argmax": "argmin", "any": "all", "all": "any", "zeros": "ones", "sum": "mean",
}  # fmt: skip
# Keywords that guard or name and rarely compute: without them most programs do the same.
HARMLESS = ("strict", "dtype", "copy", "stacklevel", "pure", "daemon")


@dataclass(frozen=True)
class Mutant:
    """One bug: replace ``source[start:stop]`` of a file by ``text``."""

    path: str
    function: str
    line: int
    operator: str
    start: int
    stop: int
    before: str
    text: str

    @property
    def package(self) -> str:
        """The room it lives in: ``guarantees``, ``engine``, ... or the module at the top."""
        return Path(self.path).parts[0].removesuffix(".py")

    @property
    def key(self) -> str:
        """What names this bug as long as its function doesn't change, wherever it stands in the file."""
        return f"{self.path}:{self.function}:{self.operator}:{self.before!r}->{self.text!r}"

    def plant(self, source: str) -> str:
        """The source with the bug in it."""
        return source[: self.start] + self.text + source[self.stop :]


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Every bug that the operators can make of a file.

    Parameters
    ----------
    path : str
        Relative to the package, as it shall stand in the table.
    source : str
        The file's text.

    Yields
    ------
    Mutant
        Each differs from the source; a few aren't valid Python (:func:`draw` passes them over).
    """
    places = _Places(source)
    for function, node in _nodes(ast.parse(source)):
        for operator, at, text in _bugs(node, places):
            start, stop = places.span(at)
            if source[start:stop] != text:
                yield Mutant(path, function, at.lineno, operator, start, stop, source[start:stop], text)


def draw(root: Path, count: int, seed: int, rooms: Collection[str] = ()) -> list[Mutant]:
    """Bugs drawn at random over a package: operators take turns, and no function is hit twice by one of them.

    Parameters
    ----------
    root : Path
        The folder of the package.
    count : int
        How many.
    seed : int
        Of the draw.
    rooms : collection of str
        Parts of the package to draw from, as ``Mutant.package`` names them; by default all.

    Returns
    -------
    list of Mutant
        In the order of the draw.
    """
    rng = random.Random(seed)
    pools: dict[str, dict[tuple[str, str], list[Mutant]]] = {}
    sources = {}
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root).as_posix()
        if path.startswith(PRESENTATION):
            continue
        sources[path] = file.read_text()
        for mutant in mutants_of(path, sources[path]):
            if rooms and mutant.package not in rooms:
                break
            pools.setdefault(mutant.operator, {}).setdefault((path, mutant.function), []).append(mutant)
    queues = {}
    for operator, places in sorted(pools.items()):
        one_each = [rng.choice(bugs) for _, bugs in sorted(places.items())]
        rng.shuffle(one_each)
        queues[operator] = one_each
    drawn: list[Mutant] = []
    while len(drawn) < count and any(queues.values()):
        for queue in queues.values():
            while queue and len(drawn) < count:
                mutant = queue.pop()
                if _compiles(mutant.plant(sources[mutant.path])):
                    drawn.append(mutant)
                    break
    return drawn


class _Places:
    """From nodes of the tree to offsets in the text (columns of ast count bytes)."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def text(self, node: Any) -> str:
        start, stop = self.span(node)
        return self.source[start:stop]

    def _at(self, line: int, column: int) -> int:
        before = self.lines[line - 1].encode()[:column].decode()
        return self.begins[line - 1] + len(before)


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Nodes that compute, each with the function around it: no annotations, no texts, no lists of names."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(
                node, ast.Call
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST) or _is_talk(child):
                    continue
                inner = function
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    inner = f"{function}.{child.name}".lstrip(".")
                yield inner, child
                yield from walk(child, inner)

    return walk(tree, "")


def _is_talk(node: ast.AST) -> bool:
    """Imports, texts, error messages, ``__all__`` and what is there for type checkers alone."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return True
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id.startswith("__") for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bugs(node: ast.AST, places: _Places) -> Iterator[tuple[str, Any, str]]:
    """(operator, node to replace, new text)."""
    text = places.text
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in FLIPPED:
        sign = FLIPPED[type(node.ops[0])]
        yield "comparison flipped", node, f"{text(node.left)} {sign} {text(node.comparators[0])}"
        yield from _wider(node, text)
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not _of_texts(node):
        yield "term dropped", node, text(node.left)
        yield (
            "sign or product swapped",
            node,
            f"{text(node.left)} {SWAPPED[type(node.op)]} ({text(node.right)})",
        )
    elif isinstance(node, ast.BoolOp):
        yield "condition left out", node, " ".join(_joined(node, text)[:-1])
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        if not isinstance(node, ast.While):
            yield "condition constant", node.test, "True"
        if isinstance(node, ast.If):
            yield "branch skipped", node.test, "False"
    elif isinstance(node, ast.Call):
        yield from _of_call(node, text)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "step left out", node, "pass"
    elif isinstance(node, ast.Raise) and "NotImplementedError" not in text(node):  # of what is abstract
        yield "error not raised", node, "pass"
    elif isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 2:
        if isinstance(node, ast.List) or all(isinstance(item, ast.Call) for item in node.elts):
            yield "row left out", node.elts[-1], "*()"
    elif isinstance(node, ast.Slice | ast.Subscript):
        yield from _off_by_one(node)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
        value = node.value.value
        if isinstance(value, float) and value and abs(value) != float("inf"):
            yield "bound ten times as wide", node.value, repr(value * 10)


def _wider(node: ast.Compare, text: Any) -> Iterator[tuple[str, ast.AST, str]]:
    bound = node.comparators[0]
    if isinstance(bound, ast.Constant) and isinstance(bound.value, float) and bound.value:
        factor = 10 if isinstance(node.ops[0], ast.Lt | ast.LtE) else 0.1
        yield "bound ten times as wide", bound, repr(bound.value * factor)
    elif isinstance(bound, ast.Name | ast.Attribute | ast.Call | ast.BinOp) and isinstance(
        node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE
    ):
        factor = 10 if isinstance(node.ops[0], ast.Lt | ast.LtE) else 0.1
        yield "bound ten times as wide", bound, f"({text(bound)}) * {factor}"


def _of_call(node: ast.Call, text: Any) -> Iterator[tuple[str, ast.AST, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in OPPOSITE:
        called = text(node.func)
        yield "opposite function", node.func, called[: len(called) - len(name)] + OPPOSITE[name]
    if name == "range" and node.args:
        yield "off by one", node.args[-1], f"{text(node.args[-1])} - 1"
    named = [keyword for keyword in node.keywords if keyword.arg and keyword.arg not in HARMLESS]
    if named and len(node.args) + len(node.keywords) > 1:
        gone = named[-1]
        rest = [text(item) for item in (*node.args, *node.keywords) if item is not gone]
        yield "argument ignored", node, f"{text(node.func)}({', '.join(rest)})"


def _off_by_one(node: ast.Slice | ast.Subscript) -> Iterator[tuple[str, ast.AST, str]]:
    ends = (node.lower, node.upper) if isinstance(node, ast.Slice) else (node.slice,)
    for end in ends:
        if isinstance(end, ast.Constant) and isinstance(end.value, int) and not isinstance(end.value, bool):
            yield "off by one", end, repr(end.value + 1)


def _joined(node: ast.BoolOp, text: Any) -> list[str]:
    word = "and" if isinstance(node.op, ast.And) else "or"
    parts = [text(value) for value in node.values[:-1]]
    return [piece for part in parts for piece in (part, word)]


def _of_texts(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.List)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True
