"""Guarantee reports: the theorems' conditions and practical evidence, measured after every fit."""

from altmin.guarantees.report import Condition, GuaranteeReport, check

__all__ = ["Condition", "GuaranteeReport", "check"]
