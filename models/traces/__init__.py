"""Trace files: JSON lines that the simulators write and the specifications accept.

`aggregation_traces`: switches that reduce; `flits`: routers, flit by flit.
"""
