"""Generators of the models of the papers."""

from altmin.datasets.nonnegative import make_ctm, make_dir, make_neg
from altmin.datasets.quadratic import make_quadratic

__all__ = ["make_ctm", "make_dir", "make_neg", "make_quadratic"]
