"""Refutations, one file per kind, and the formats in which other checkers take them."""
