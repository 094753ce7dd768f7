"""Flits packed by the core, heads in traces of routers, sizes of tables."""
