"""Constraint models of collectives for CP-SAT, one encoding per file."""
