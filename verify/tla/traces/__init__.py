"""Traces of the simulators as behaviours of the specifications: interfaces, reducing switches, endpoint engines.

`lines` is what the latter two have in common: a trace with a line for every step.
"""
