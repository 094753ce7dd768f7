"""Collectives in JAX as users write them, right and wrong: `python -m tests.extras.xla.foreign FOLDER` lowers each to StableHLO.

They are lowered for eight devices that need not be there. The folder `programs` has what JAX 0.10.2 gives.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AbstractMesh
from jax.sharding import PartitionSpec as P

DEVICES = 8
PROGRAMS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {}
FORWARD = [(one, (one + 1) % DEVICES) for one in range(DEVICES)]
BACK = [(two, one) for one, two in FORWARD]


def program(*shape: int) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function of what each device gives, an array of this shape."""

    def add(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        PROGRAMS[function.__name__] = function, shape
        return function

    return add


def _ring(x: Any, behind: int) -> Any:
    me = lax.axis_index("d")
    found = jnp.zeros((DEVICES, *x.shape), x.dtype).at[me].set(x)

    def turn(number: Any, carried: Any) -> Any:
        found, part = carried
        part = lax.ppermute(part, "d", FORWARD)
        return lax.dynamic_update_index_in_dim(found, part, (me - number - behind) % DEVICES, 0), part

    return lax.fori_loop(0, DEVICES - 1, turn, (found, x))[0]


@program(4, 5)
def ring_all_gather(x: Any) -> Any:
    """Every device passes on what came last."""
    return _ring(x, 1)


@program(4, 5)
def wrong_ring_all_gather(x: Any) -> Any:
    """Every part is put where the next one belongs."""
    return _ring(x, 2)


def _two_ways(x: Any, back: list[tuple[int, int]]) -> Any:
    me, half = lax.axis_index("d"), x.shape[0] // 2
    found = lax.dynamic_update_slice(jnp.zeros((DEVICES * x.shape[0],), x.dtype), x, (me * x.shape[0],))
    right, left = x[:half], x[half:]
    for turn in range(1, DEVICES):
        right, left = lax.ppermute(right, "d", FORWARD), lax.ppermute(left, "d", back)
        found = lax.dynamic_update_slice(found, right, ((me - turn) % DEVICES * x.shape[0],))
        found = lax.dynamic_update_slice(found, left, ((me + turn) % DEVICES * x.shape[0] + half,))
    return found


@program(6)
def two_way_all_gather(x: Any) -> Any:
    """Half of a part goes around each way."""
    return _two_ways(x, BACK)


@program(6)
def wrong_two_way_all_gather(x: Any) -> Any:
    """Two devices have each other's neighbour in one of the directions."""
    return _two_ways(x, [(0, 6), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 7)])


@program(24)
def ring_all_reduce(x: Any) -> Any:
    """Parts are added up around the ring, then passed around."""
    me, parts = lax.axis_index("d"), x.reshape(DEVICES, -1)
    for turn in range(DEVICES - 1):
        leaving = parts[(me - turn) % DEVICES]
        parts = parts.at[(me - turn - 1) % DEVICES].add(lax.ppermute(leaving, "d", FORWARD))
    for turn in range(DEVICES - 1):
        leaving = lax.dynamic_index_in_dim(parts, (me + 1 - turn) % DEVICES, 0)
        came = lax.ppermute(leaving, "d", FORWARD)
        parts = lax.dynamic_update_slice_in_dim(parts, came, (me - turn) % DEVICES, 0)
    return parts.reshape(x.shape)


@program(3, 4)
def doubling_all_reduce(x: Any) -> Any:
    """Devices exchange all they have with the one whose number differs in one bit."""
    for bit in (1, 2, 4):
        x = x + lax.ppermute(x, "d", [(one, one ^ bit) for one in range(DEVICES)])
    return x


@program(3, 4)
def doubling_maximum(x: Any) -> Any:
    """Likewise, of the largest elements."""
    for bit in (1, 2, 4):
        x = jnp.maximum(x, lax.ppermute(x, "d", [(one, one ^ bit) for one in range(DEVICES)]))
    return x


@program(8, 3)
def turning_all_to_all(x: Any) -> Any:
    """In turn n every device sends what it has for the n-th one after it."""
    me = lax.axis_index("d")
    found = jnp.where((jnp.arange(DEVICES) == me)[:, None], x, jnp.zeros_like(x))
    for turn in range(1, DEVICES):
        leaving = lax.dynamic_index_in_dim(x, (me + turn) % DEVICES, 0)
        came = lax.ppermute(leaving, "d", [(one, (one + turn) % DEVICES) for one in range(DEVICES)])
        found = lax.dynamic_update_slice_in_dim(found, came, (me - turn) % DEVICES, 0)
    return found


@program(5)
def tree_broadcast(x: Any) -> Any:
    """Device 3 sends, then all that have it."""
    me = (lax.axis_index("d") - 3) % DEVICES
    for bit in (1, 2, 4):
        pairs = [((one + 3) % DEVICES, (one + bit + 3) % DEVICES) for one in range(bit)]
        came = lax.ppermute(x, "d", pairs)
        x = lax.cond((bit <= me) & (me < 2 * bit), lambda came=came, x=x: came, lambda came=came, x=x: x)
    return x


def lowered(name: str) -> str:
    """The StableHLO of a program."""
    function, shape = PROGRAMS[name]
    mesh, where = AbstractMesh((DEVICES,), ("d",)), P("d")
    mapped = jax.jit(jax.shard_map(lambda x: function(x[0])[None], mesh=mesh, in_specs=where, out_specs=where, check_vma=False))
    return mapped.trace(jax.ShapeDtypeStruct((DEVICES, *shape), jnp.float32)).lower(lowering_platforms=("cpu",)).as_text()


if __name__ == "__main__":
    for one in PROGRAMS:
        (Path(sys.argv[1]) / f"{one}.mlir").write_text(lowered(one) + "\n")
