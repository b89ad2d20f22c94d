"""Errors up to what a model leaves free: order, sign and scale of the components."""

from altmin.metrics.matching import match_components, sine_errors, total_correlation_error

__all__ = ["match_components", "sine_errors", "total_correlation_error"]
