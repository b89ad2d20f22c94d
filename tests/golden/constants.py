"""Every number with a name, and lists of them: bounds, waits, colours, defaults of records."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from cases import CASES

import altmin

LEFT_OUT = ("altmin.plots", "altmin.demo", "altmin.__main__")  # people look at those


def _is_number(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, int | float | str) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def constants_of(module: Any) -> dict[str, Any]:
    """Numbers that a module names in capitals, and the defaults of its records."""
    found = {
        name: value
        for name, value in vars(module).items()
        if name.isupper() and _is_number(value) and _is_own(module, name)
    }
    for thing in vars(module).values():
        if isinstance(thing, type) and thing.__module__ == module.__name__ and is_dataclass(thing):
            for part in fields(thing):
                if part.default is not MISSING and _is_number(part.default):
                    found[f"{thing.__name__}.{part.name}"] = part.default
    return found


def _is_own(module: Any, name: str) -> bool:
    """Given in this module, not imported from another one."""
    return f"\n{name} = " in _text(module) or f"\n{name}: " in _text(module)


def _text(module: Any) -> str:
    return "\n" + Path(module.__file__).read_text(encoding="utf-8")


def constants() -> dict[str, dict[str, Any]]:
    """By module, without the package's name."""
    found = {}
    for part in pkgutil.walk_packages(altmin.__path__, "altmin."):
        if not part.name.startswith(LEFT_OUT):
            numbers = constants_of(importlib.import_module(part.name))
            if numbers:
                found[part.name.removeprefix("altmin.")] = {
                    key: repr(numbers[key]) for key in sorted(numbers)
                }
    return found


CASES["constants"] = constants
