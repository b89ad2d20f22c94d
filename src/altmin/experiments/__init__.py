"""Experiments: the claims of the papers, the demo, and peers to compare with."""
