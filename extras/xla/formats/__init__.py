"""The format jax of `certree export`."""
