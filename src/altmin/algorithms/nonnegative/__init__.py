"""Algorithms of non-negative factorization."""
