"""Families that are joined cable by cable (`cables`): boxes, and networks with switches."""
