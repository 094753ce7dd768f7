"""Trace files: JSON lines that the simulators write and the specifications accept.

`endpoint_traces`: collective engines at the endpoints; `aggregation_traces`: switches that reduce; `flits`: routers, flit by flit.
"""
