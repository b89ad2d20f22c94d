"""Mutational signatures: tables of the field, signatures with verdicts, matches, exposures with intervals."""

from altmin.signatures.exposures import Exposures, refit
from altmin.signatures.matching import Match, Matching, match
from altmin.signatures.model import SignatureModel
from altmin.signatures.number import Number
from altmin.signatures.tables import ChannelTable, read_reference, read_table

__all__ = [
    "ChannelTable",
    "Exposures",
    "Match",
    "Matching",
    "Number",
    "SignatureModel",
    "match",
    "read_reference",
    "read_table",
    "refit",
]
