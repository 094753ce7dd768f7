"""The name of `calls` in the API."""

from certree.extras.xla.run import calls as jax

__all__ = ["jax"]
