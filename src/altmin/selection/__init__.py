"""How many components there are, whether two fits agree, how far each component spreads."""

from altmin.selection.alignment import Alignment, align_components
from altmin.selection.bootstrap import Bootstrap, bootstrap_components
from altmin.selection.number import Selection, select_n_components

__all__ = [
    "Alignment",
    "Bootstrap",
    "Selection",
    "align_components",
    "bootstrap_components",
    "select_n_components",
]
