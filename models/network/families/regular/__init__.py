"""Families with one rule for every node; `grid` is the common part of rings, meshes, tori and hypercubes."""
