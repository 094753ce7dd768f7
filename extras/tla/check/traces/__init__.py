"""Traces of the simulators as behaviours of the specifications: interfaces, routers, reducing switches.

`traced_steps` is the common part of the latter two: a trace with one line per step.
"""
