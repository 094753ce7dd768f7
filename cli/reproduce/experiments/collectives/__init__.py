"""Simulated collectives compared."""
