"""Reports made of evidence alone: every family of the table of limits, in words."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from cases import CASES

from altmin.guarantees.contract import judge

_spec = importlib.util.spec_from_file_location("limits", Path(__file__).parents[1] / "theory" / "limits.py")
assert _spec is not None
assert _spec.loader is not None
limits = importlib.util.module_from_spec(_spec)
sys.modules["limits"] = limits  # dataclasses look their module up
_spec.loader.exec_module(limits)


def verdicts(name: str) -> Any:
    """The report of good evidence whole, and what is said where one number is outside of its bound."""
    family, evidence, _, rows = limits.LIMITS[name]
    found: dict[str, Any] = {
        "good": judge(family, evidence, effort="full"),
        "cheap": judge(family, evidence).advice,
    }
    for limit in rows:
        report = judge(family, limit.at(evidence, limit.beyond(1e-6)), effort="full")
        told = [f"{factor.verdict}: {factor.against}" for factor in report.factors]
        found[limit.id] = (report.verdict, report.advice, report.estimated_error, *told)
    return found


for _name in limits.LIMITS:
    CASES[f"verdicts of {_name}"] = lambda name=_name: verdicts(name)
