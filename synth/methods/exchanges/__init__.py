"""Algorithms in which partners exchange parts of the message."""
