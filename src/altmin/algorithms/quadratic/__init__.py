"""Algorithms of factorization machines, sensing and phase retrieval."""
