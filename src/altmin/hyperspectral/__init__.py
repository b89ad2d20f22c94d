"""Hyperspectral cubes: unmixing into spectra and abundance maps, bands that carry no signal."""

from altmin.algorithms.nonnegative.pure_samples import spa, vca
from altmin.hyperspectral.bands import noisy_bands
from altmin.hyperspectral.unmixing import Unmixing, abundances, unmix

__all__ = ["Unmixing", "abundances", "noisy_bands", "spa", "unmix", "vca"]
