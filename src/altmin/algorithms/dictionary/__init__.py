"""Algorithms of orthogonal, complete and online dictionaries."""
