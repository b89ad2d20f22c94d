"""Pictures; matplotlib is imported when one is drawn."""

from altmin.plots.dictionary import plot_dictionary

__all__ = ["plot_dictionary"]
