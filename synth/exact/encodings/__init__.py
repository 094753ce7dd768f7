"""Constraint models of collectives: what CP-SAT is asked, one encoding per file."""
