"""Generators of the models of the papers."""

from altmin.datasets.dictionaries import make_sparse_dictionary
from altmin.datasets.nonnegative import add_outliers, make_binary, make_ctm, make_dir, make_neg
from altmin.datasets.planted_sparse import make_planted_sparse, make_plateau, make_star
from altmin.datasets.quadratic import make_quadratic
from altmin.datasets.scenes import make_scene

__all__ = [
    "add_outliers",
    "make_binary",
    "make_ctm",
    "make_dir",
    "make_neg",
    "make_planted_sparse",
    "make_plateau",
    "make_quadratic",
    "make_scene",
    "make_sparse_dictionary",
    "make_star",
]
