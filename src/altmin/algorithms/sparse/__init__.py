"""Algorithms for ids, clicks and other very sparse features."""
