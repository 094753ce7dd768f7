"""Traces of the simulators as behaviours of the specifications: interfaces, routers, reducing switches, endpoint engines.

`traced_steps` is the common part of the latter three: a trace with one line per step.
"""
