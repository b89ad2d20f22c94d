"""Algorithms of approximate (overcomplete) dictionaries."""
