"""Lowering of a schedule to a kernel plan."""
