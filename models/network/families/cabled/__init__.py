"""Families that are joined cable by cable (`cables`): packages, and networks with switches."""
