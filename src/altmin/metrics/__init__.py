"""Errors up to what a model leaves free (order, sign, scale of the components), and of images."""

from altmin.metrics.dictionaries import atom_error, crosstalk, support_recovery
from altmin.metrics.images import psnr, ssim
from altmin.metrics.matching import match_components, sine_errors, total_correlation_error
from altmin.metrics.ranking import ndcg_at_k, recall_at_k
from altmin.metrics.spectra import abundance_rmse, spectral_angle

__all__ = [
    "abundance_rmse",
    "atom_error",
    "crosstalk",
    "match_components",
    "ndcg_at_k",
    "psnr",
    "recall_at_k",
    "sine_errors",
    "spectral_angle",
    "ssim",
    "support_recovery",
    "total_correlation_error",
]
