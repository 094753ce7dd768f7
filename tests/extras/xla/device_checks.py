"""Checks that need several devices of JAX: registered by name, run in a process whose XLA_FLAGS asks for 8 of them."""

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh

Check = Callable[[], None]
MESH = Mesh(np.array(jax.devices()[:4]), ("d",))
#: JAX's own collectives on that mesh
OWN: dict[str, Callable[[Any], Any]] = {
    "all-reduce": lambda x: lax.psum(x, "d"),
    "all-gather": lambda x: lax.all_gather(x, "d"),
    "reduce-scatter": lambda x: lax.psum_scatter(x, "d", scatter_dimension=0, tiled=False),
    "all-to-all": lambda x: lax.all_to_all(x, "d", 0, 0),
}
METHODS = {"all-to-all": "flows"}


class Checks(dict[str, Check]):
    """Checks by name; one returns nothing, or raises."""

    def add(self, function: Check) -> Check:
        """Register a check under the name of its function."""
        self[function.__name__] = function
        return function

    def run(self, names: list[str]) -> None:
        """Run these checks, by default all, and print as JSON by name what each raised, or nothing."""
        found: dict[str, str] = {}
        for name in names or self:
            try:
                self[name]()
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
        sys.stdout.write(json.dumps(found))
