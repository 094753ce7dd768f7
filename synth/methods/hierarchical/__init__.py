"""Algorithms that follow the levels of a network."""
