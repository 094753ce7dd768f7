"""Traces of the simulators as behaviours of the specifications: interfaces, reducing switches, endpoint engines.

`lines` is the common part of the latter two: a trace with one line per step.
"""
