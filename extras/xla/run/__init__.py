"""Execution on devices of JAX."""
