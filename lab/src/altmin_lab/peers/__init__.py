"""Peers: other methods and adapters of other libraries, at their good settings, to compare with."""
