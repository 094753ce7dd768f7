"""Collectives with the costs of endpoints."""
