"""Refutations, one file per kind, and the formats for other checkers."""
