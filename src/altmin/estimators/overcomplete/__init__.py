"""Estimators of approximate (overcomplete) dictionaries."""
