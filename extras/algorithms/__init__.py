"""Algorithms in Python: a builder of schedules, functions as methods, plug-ins.

`make`: the builder, what it has written, functions that become methods, data frames. `check`: the
conformance suite that plug-ins must pass. `extra.py` states what it adds to the kernel, `api.pyi` its names in
`certree.api`.
"""
