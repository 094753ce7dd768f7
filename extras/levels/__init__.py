"""Collectives level by level: boxes, rails, leaves and groups.

- `make`: orders of levels and their programs; `methods`: what is registered with them
"""
