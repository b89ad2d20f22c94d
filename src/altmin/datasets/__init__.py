"""Generators of the models of the papers."""

from altmin.datasets.dictionaries import make_sparse_dictionary
from altmin.datasets.nonnegative import make_ctm, make_dir, make_neg

__all__ = ["make_ctm", "make_dir", "make_neg", "make_sparse_dictionary"]
