"""Frontiers: their points and the document with all evidence, re-checked without a solver."""
