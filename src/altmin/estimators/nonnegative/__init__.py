"""Estimators of non-negative factorization."""
