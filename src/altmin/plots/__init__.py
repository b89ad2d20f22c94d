"""Pictures (matplotlib, the extra ``altmin[plot]``, imported when one is drawn)."""

from altmin.plots.dictionary import plot_dictionary

__all__ = ["plot_dictionary"]
