"""Estimators of orthogonal, complete and online dictionaries."""
