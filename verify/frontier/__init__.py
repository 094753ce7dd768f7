"""Frontiers: their points, the schedules that answer them, and the document with all proofs, re-checked without a solver."""
