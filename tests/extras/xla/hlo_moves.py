"""Operations on data next to XLA: `python -m tests.extras.xla.hlo_moves` prints how many programs agree, and which do not.

Each program is executed twice on four devices: by XLA, with a different number for each element, and with events in place of data.
What the events say must be these numbers. XLA_FLAGS must ask for 4 devices before this process starts.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from certree.extras.xla.check.hlo.devices import executed
from certree.extras.xla.check.hlo.values import Values
from certree.extras.xla.model.hlo_child import document_of
from certree.extras.xla.model.hlo_reader import module_of

DEVICES = 4
SHAPES = ((24,), (6, 4), (4, 6, 5), (8, 3, 2))
RING = [(one, (one + 1) % DEVICES) for one in range(DEVICES)]


def passed(x: Any) -> Any:
    """What the device before has."""
    return lax.ppermute(x, "d", RING)


#: by name a function of the data of a device and its number
MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "permute": lambda x, me: lax.ppermute(x, "d", [(0, 2), (1, 3)]),
    "strided": lambda x, me: x[1::2],
    "slice": lambda x, me: lax.slice(x, (1,) + (0,) * (x.ndim - 1), (x.shape[0] - 1, *x.shape[1:])),
    "dynamic slice": lambda x, me: lax.dynamic_slice_in_dim(x, me * 2 - 1, 2, 0),
    "dynamic slice of the last axis": lambda x, me: lax.dynamic_slice_in_dim(x, me, 1, x.ndim - 1),
    "update": lambda x, me: lax.dynamic_update_slice_in_dim(x, passed(x[:2]), me * 3, 0),
    "update of the last axis": lambda x, me: lax.dynamic_update_slice_in_dim(x, passed(x[..., :1]), me - 1, x.ndim - 1),
    "padding below 0": lambda x, me: lax.pad(x, jnp.float32(0), ((-1, 2, 0),) + ((0, 0, 0),) * (x.ndim - 1)),
    "padding inside": lambda x, me: lax.pad(x, jnp.float32(0), ((1, -1, 2),) + ((2, 1, 0),) * (x.ndim - 1)),
    "padding inside and below 0": lambda x, me: lax.pad(x, jnp.float32(0), ((-2, -1, 1),) + ((0, 0, 1),) * (x.ndim - 1)),
    "transpose": lambda x, me: jnp.transpose(x),
    "first axis last": lambda x, me: jnp.moveaxis(x, 0, -1).reshape(-1),
    "broadcast": lambda x, me: jnp.broadcast_to(x[None], (3, *x.shape)),
    "repeat": lambda x, me: jnp.repeat(x, 2, 0),
    "concatenate": lambda x, me: jnp.concatenate([x[2:], passed(x[:2]), x[:1]], 0),
    "concatenate the last axis": lambda x, me: jnp.concatenate([x, passed(x)], -1),
    "take": lambda x, me: x[jnp.array([3, 0, 2, 2])],
    "take by device": lambda x, me: x[jnp.stack([me, 3 - me, me * 5 - 3])],
    "take or fill": lambda x, me: jnp.take(x, jnp.stack([me, me + 3]), axis=0, mode="fill", fill_value=0),
    "take of the last axis": lambda x, me: jnp.take(x, jnp.stack([me % 2, 1]), axis=-1, mode="clip"),
    "set": lambda x, me: x.at[jnp.stack([me, me + 1])].set(passed(x[:2])),
    "set or drop": lambda x, me: x.at[me * 2].set(passed(x[0]), mode="drop"),
    "set of the last axis": lambda x, me: x.at[..., me % 2].set(passed(x[..., 0])),
    "where": lambda x, me: jnp.where(lax.broadcasted_iota(jnp.int32, x.shape, 0) == me, x, passed(x)),
    "where of the last axis": lambda x, me: jnp.where(lax.broadcasted_iota(jnp.int32, x.shape, x.ndim - 1) < me, x, 0),
    "cond": lambda x, me: lax.cond(me > 1, lambda: x, lambda: jnp.zeros_like(x)),
    "switch": lambda x, me: lax.switch(me, [lambda: x, lambda: jnp.roll(x, 1, 0), lambda: jnp.roll(x, 2, 0)]),
    "loop": lambda x, me: lax.fori_loop(0, 3, lambda i, c: lax.dynamic_update_index_in_dim(c, passed(c[0]), (me + i) % 4, 0), x),
    "scan": lambda x, me: lax.scan(lambda c, r: (passed(r), c), x[0], x)[1],
    "nothing added": lambda x, me: jnp.concatenate([x[:0], x, x[:0]]),
    "roll": lambda x, me: jnp.roll(x, me, 0),
    "take along an axis": lambda x, me: jnp.take_along_axis(x, (lax.broadcasted_iota(jnp.int32, x.shape, 0) + me) % x.shape[0], 0),
    "adds": lambda x, me: x + passed(x),
    "add at": lambda x, me: x.at[me].add(passed(x[0])),
    "dynamic index": lambda x, me: lax.dynamic_index_in_dim(jnp.stack([x, passed(x)]), me % 2, 0, keepdims=False),
}


def agrees(move: Callable[[Any, Any], Any], shape: tuple[int, ...]) -> bool:
    """Whether events and XLA say the same."""
    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("d",))
    body = jax.shard_map(
        lambda x: move(x[0], lax.axis_index("d"))[None], mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False
    )
    x = np.arange(1, DEVICES * int(np.prod(shape)) + 1, dtype=np.float32).reshape(DEVICES, *shape)
    lowered = jax.jit(body).lower(x)
    done = executed(module_of(document_of(lowered.as_text().encode()), "m.mlir"))
    values, given = Values(done), x.reshape(DEVICES, -1, done.grain)
    found = np.zeros((*done.outputs.shape, done.grain), np.float32)
    for place in np.ndindex(*done.outputs.shape):
        value = values.by_event[int(done.outputs[place])]
        found[place] = np.nan if value.fault else sum((given[part] for part in value.parts), np.zeros(done.grain, np.float32))
    return np.array_equal(found.reshape(-1), np.asarray(lowered.compile()(x)).reshape(-1))


def main(names: list[str]) -> None:
    """Compare these, by default all, in every shape."""
    wrong = [f"{name} {shape}" for name in names or MOVES for shape in SHAPES if not agrees(MOVES[name], shape)]
    sys.stdout.write(json.dumps({"programs": len(names or MOVES) * len(SHAPES), "wrong": wrong}))


if __name__ == "__main__":
    main(sys.argv[1:])
