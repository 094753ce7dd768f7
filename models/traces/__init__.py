"""Trace files: JSON lines that the simulators write and the specifications accept.

`endpoints`: collective engines at the endpoints; `reducing`: switches that reduce; `flits`: routers, flit by flit.
"""
