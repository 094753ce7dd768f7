"""Algorithms in Python: a builder of schedules, and functions as methods.

`make`: the builder, what it has written, and functions that become methods. `extra.py` states what it adds to the kernel, `api.pyi`
its names in `certree.api`.
"""
