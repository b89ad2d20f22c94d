"""Multivariate curve resolution: spectra of mixtures over time or runs, with bands of feasible solutions."""

from altmin.mixtures.bands import Bands, feasible_bands
from altmin.mixtures.resolution import Resolution, resolve

__all__ = ["Bands", "Resolution", "feasible_bands", "resolve"]
