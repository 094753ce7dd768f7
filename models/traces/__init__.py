"""Trace files: JSON lines that the simulators write and the specifications accept.

`flits`: routers, flit by flit.
"""
