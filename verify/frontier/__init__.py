"""Frontiers: their points, the schedules that answer them, and the document with all evidence, re-checked without a solver."""
