"""Algorithms of threshold correlation and hypercontractive norms."""
