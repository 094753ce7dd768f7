"""Checks of statements that no target has: each computes what the paper states, in about a second."""
