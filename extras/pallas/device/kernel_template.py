# certree-pallas 1
"""All-reduce on 2 devices, for use inside jax.shard_map: all_reduce(x, axis_name). JAX and numpy are all that it needs.

Written by `certree export --format pallas` for: all-reduce on ring:2, made by ring.

Device r of the axis (of several axes: in the order of their names, the last one changing first) is rank r of the schedule: its
r-th endpoint in the order of ids.
"""

import base64
import math
import zlib
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

# constants of the schedule
COLLECTIVE, RANKS, ROOT, MEMBERS, DEMAND = "all-reduce", 2, None, None, None
CHUNKS, REPEATS, INPUT, OUTPUT, SCRATCH, REGULAR, DMA = 2, 1, 2, 2, 4, 1, 10
OPERATIONS = [
    # by device, each six numbers: 1, row, row, device, semaphores of arrival and of sending: start a DMA; 2 and its semaphore: wait
    # for one; 3 and 5, device, semaphore, count: wait, signal; 4 and 6: likewise, of the barrier; 7, row, row: from the input to
    # scratch; 8: from scratch to the output; 9: copy; 10: add; 0: nothing
    [
        [6, 0, 0, 1, 0, 1],
        [7, 0, 0, 0, 0, 0],
        [7, 1, 1, 0, 0, 0],
        [4, 0, 0, 0, 0, 1],
        [5, 0, 0, 1, 0, 1],
        [3, 0, 0, 0, 0, 1],
        [1, 1, 2, 1, 8, 0],
        [2, 0, 0, 0, 8, 1],
        [10, 2, 0, 0, 0, 0],
        [1, 0, 3, 1, 9, 1],
        [2, 0, 0, 0, 9, 1],
        [2, 0, 0, 0, 0, 1],
        [9, 3, 1, 0, 0, 0],
        [8, 0, 0, 0, 0, 0],
        [8, 1, 1, 0, 0, 0],
        [2, 0, 0, 0, 1, 1],
    ],
    [
        [6, 0, 0, 0, 0, 1],
        [7, 0, 0, 0, 0, 0],
        [7, 1, 1, 0, 0, 0],
        [4, 0, 0, 0, 0, 1],
        [5, 0, 0, 0, 0, 1],
        [3, 0, 0, 0, 0, 1],
        [1, 0, 2, 0, 8, 0],
        [2, 0, 0, 0, 8, 1],
        [10, 2, 1, 0, 0, 0],
        [1, 1, 3, 0, 9, 1],
        [2, 0, 0, 0, 9, 1],
        [2, 0, 0, 0, 0, 1],
        [9, 3, 0, 0, 0, 0],
        [8, 0, 0, 0, 0, 0],
        [8, 1, 1, 0, 0, 0],
        [2, 0, 0, 0, 1, 1],
    ],
]

# the code below is the same in every such module
BLOCKS = {"all-gather": (1, 0), "gather": (1, 0), "reduce-scatter": (0, 1), "scatter": (0, 1), "all-to-all": (0, 0)}
SUMS = ("all-reduce", "reduce", "reduce-scatter")
COMBINED = {"sum": jnp.add, "max": jnp.maximum, "min": jnp.minimum}
FIELDS = 6
LANES = 128
VMEM_BYTES = 16 << 20


class RefusedError(ValueError):
    """A call that the collective does not take."""


def table(value):
    """A table of whole numbers: nested lists, or (type, shape, text in base 85 of the compressed numbers)."""
    if isinstance(value, tuple):
        kind, shape, text = value
        value = np.frombuffer(zlib.decompress(base64.b85decode(text)), kind).reshape(shape)
    return np.asarray(value, np.int32)


def all_reduce(x, axis_name, op="sum", interpret=False, collective_id=0):
    """All-reduce of x over the devices of an axis (or several) of the mesh, in the order of the schedule; see COLLECTIVE.

    For all-reduce, broadcast and reduce x has any shape. Where a device gives or gets blocks, one for each member in their order,
    these are the first axis. An alltoallv takes rows, DEMAND[s][t] of device s for device t, for the targets one after the other,
    and gives rows, from the sources one after the other; every device has as many rows as the one with the most, and fills up at
    the end. Devices without a result get zeros. op: "sum", "max" or "min", where something is added. Sizes are padded to whole
    tiles of every part; all of it must fit in VMEM_BYTES of each device. There is no gradient, and shard_map needs check_vma=False.

    interpret: as of pallas_call; pltpu.InterpretParams() on CPU devices. collective_id: kernels of a program that are not of the
    same module need different ones.
    """
    x = jnp.asarray(x)
    names = tuple(axis_name) if isinstance(axis_name, (list, tuple)) else (axis_name,)
    if lax.axis_size(names) != RANKS:
        raise RefusedError(f"{COLLECTIVE} is for {RANKS} devices; axis {axis_name} has {lax.axis_size(names)}")
    if not jnp.issubdtype(x.dtype, jnp.number) or jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise RefusedError(f"{COLLECTIVE} of {x.dtype}; elements must be real numbers")
    if not isinstance(op, str) or op not in COMBINED:
        raise RefusedError(f"op is {op!r}; allowed: sum, max and min")
    blocks = in_out_blocks()[0]
    if blocks is not None and (x.ndim == 0 or x.shape[0] != blocks):
        raise RefusedError(
            f"{COLLECTIVE} of shape {x.shape}; the first axis must have {blocks} {'blocks' if DEMAND is None else 'rows'}"
        )
    return execute(x, names, partial(call, names=names, op=op, interpret=interpret, collective_id=collective_id))


def in_out_blocks():
    """How many blocks the input and the output of a device have; None where they are one array."""
    members = RANKS if MEMBERS is None else len(MEMBERS)
    if DEMAND is not None:
        return max(map(sum, DEMAND)), max(map(sum, zip(*DEMAND, strict=True)))
    lone = BLOCKS.get(COLLECTIVE, (1, 1))
    return tuple(None if one else members for one in lone)


def execute(x, names, kernel):
    """All iterations, one after the other, each on its part of every chunk."""
    blocks, results = in_out_blocks()
    shape = x.shape if blocks is None else x.shape[1:]
    elements = math.prod(shape)
    size = -(-elements // (CHUNKS * REPEATS))
    flat = x.reshape(1 if blocks is None else blocks, elements)
    padded = jnp.pad(flat, ((0, 0), (0, CHUNKS * REPEATS * size - elements)))
    parts = jnp.swapaxes(padded.reshape(flat.shape[0] * CHUNKS, REPEATS, size), 0, 1)
    tile = LANES * max(8, 32 // x.dtype.itemsize)
    room = tile * max(1, -(-size // tile))
    used = (INPUT + OUTPUT + SCRATCH) * room * x.dtype.itemsize
    if used > VMEM_BYTES:
        raise RefusedError(f"{COLLECTIVE} of shape {x.shape} takes {used} bytes of VMEM; allowed: up to {VMEM_BYTES}")
    tiles = jnp.pad(parts, ((0, 0), (0, 0), (0, room - size))).reshape(REPEATS, INPUT, room // LANES, LANES)
    found = kernel(tiles[0])[None] if REPEATS == 1 else lax.map(kernel, tiles)
    found = found.reshape(REPEATS, OUTPUT, room)[:, :, :size]
    due = jnp.asarray(stored())[lax.axis_index(names)]
    found = jnp.where(due[None, :, None], found, jnp.zeros_like(found))
    found = jnp.swapaxes(found, 0, 1).reshape(results or 1, CHUNKS * REPEATS * size)[:, :elements]
    return found.reshape(shape if results is None else (results, *shape))


def stored():
    """Whether each device has a result in each row of the output."""
    found = np.zeros((RANKS, OUTPUT), bool)
    for rank, operations in enumerate(table(OPERATIONS)):
        stores = operations[operations[:, 0] == 8]
        found[rank, stores[:, 2]] = True
    return found


def call(rows, names, op, interpret, collective_id):
    """One call of the kernel: rows of the input of this device to rows of its output."""
    operations = jnp.asarray(table(OPERATIONS))[lax.axis_index(names)].reshape(-1)
    return pl.pallas_call(
        partial(kernel, names=names, sizes=tuple(lax.axis_size(name) for name in names), op=op),
        out_shape=jax.ShapeDtypeStruct((OUTPUT, *rows.shape[1:]), rows.dtype),
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)],
        out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
        scratch_shapes=[
            pltpu.VMEM((SCRATCH, *rows.shape[1:]), rows.dtype),
            pltpu.SemaphoreType.REGULAR((REGULAR,)),
            pltpu.SemaphoreType.DMA((DMA,)),
        ],
        compiler_params=pltpu.CompilerParams(collective_id=collective_id, has_side_effects=True),
        interpret=interpret,
    )(operations, rows)


def kernel(operations, given, result, held, regular, dma, names, sizes, op):
    """The operations of this device, one after the other."""
    barrier = pltpu.get_barrier_semaphore()

    def at(device):
        """The device as pallas counts them: its place on each axis."""
        place, found = device, {}
        for name, size in zip(reversed(names), reversed(sizes), strict=True):
            found[name] = lax.rem(place, size)
            place = lax.div(place, size)
        return found

    def act(number, carry):
        code, first, second, device, semaphore, more = (operations[FIELDS * number + field] for field in range(FIELDS))

        @pl.when(code == 1)
        def start():
            pltpu.make_async_remote_copy(
                src_ref=held.at[first],
                dst_ref=held.at[second],
                send_sem=dma.at[more],
                recv_sem=dma.at[semaphore],
                device_id=at(device),
                device_id_type=pl.DeviceIdType.MESH,
            ).start()

        @pl.when(code == 2)
        def wait_for_dma():
            pltpu.make_async_copy(held.at[0], held.at[0], dma.at[semaphore]).wait()

        @pl.when(code == 3)
        def wait():
            pl.semaphore_wait(regular.at[semaphore], more)

        @pl.when(code == 4)
        def wait_at_barrier():
            pl.semaphore_wait(barrier, more)

        @pl.when(code == 5)
        def signal():
            pl.semaphore_signal(regular.at[semaphore], more, device_id=at(device), device_id_type=pl.DeviceIdType.MESH)

        @pl.when(code == 6)
        def signal_barrier():
            pl.semaphore_signal(barrier, more, device_id=at(device), device_id_type=pl.DeviceIdType.MESH)

        @pl.when(code == 7)
        def load():
            held[second] = given[first]

        @pl.when(code == 8)
        def store():
            result[second] = held[first]

        @pl.when(code == 9)
        def copy():
            held[second] = held[first]

        if COLLECTIVE in SUMS:

            @pl.when(code == 10)
            def add():
                held[second] = COMBINED[op](held[second], held[first])

        return carry

    lax.fori_loop(0, operations.shape[0] // FIELDS, act, 0)
