"""Families of routers with many ports and few hops, with several endpoints to a router or none; `routers` is their common part."""
