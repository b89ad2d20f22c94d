"""Estimators of factorization machines, sensing and phase retrieval."""
