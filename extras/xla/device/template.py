# certree-jax 1
"""All-reduce on 2 devices, for use inside jax.shard_map: all_reduce(x, axis_name). JAX and numpy are all that it needs.

Written by `certree export --format jax` for: all-reduce on ring:2, made by ring.

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

# constants of the schedule
COLLECTIVE, RANKS, ROOT, MEMBERS, DEMAND = "all-reduce", 2, None, None, None
CHUNKS, REPEATS, WIDTH, DEPTH = 2, 1, 1, 1
LOAD = [[0, 1], [0, 1]]
STORE = [[0, 1], [0, 1]]
STRETCHES = [
    # permutes (rows, pairs), rows kept; by step and device: rows sent, rows taken, 3 * row + (0: nothing, 1: add, 2: copy)
    ([(1, [(0, 1), (1, 0)])], 0, [[[1], [0]], [[0], [1]]], [[[0], [0]], [[0], [0]]], [[[1], [4]], [[5], [2]]]),
]

# the code below is the same in every such module
BLOCKS = {"all-gather": (1, 0), "gather": (1, 0), "reduce-scatter": (0, 1), "scatter": (0, 1), "all-to-all": (0, 0)}
SUMS = ("all-reduce", "reduce", "reduce-scatter")
LOOPS = 8
OPERATIONS = {"sum": jnp.add, "max": jnp.maximum, "min": jnp.minimum}


class RefusedError(ValueError):
    """A call that the collective does not take."""


def table(value):
    """A table of whole numbers: nested lists, or (type, shape, text in base 85 of the compressed numbers)."""
    if isinstance(value, tuple):
        kind, shape, text = value
        value = np.frombuffer(zlib.decompress(base64.b85decode(text)), kind).reshape(shape)
    found = np.asarray(value, np.int32)
    least, most = (int(found.min()), int(found.max())) if found.size else (0, 0)
    return found.astype(next(kind for kind in ("u1", "i2", "i4") if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))


def all_reduce(x, axis_name, op="sum", cotangents="varying"):
    """All-reduce of x over the devices of an axis (or several) of the mesh, in the order of the schedule; see COLLECTIVE.

    x has any type that can be added and, for all-reduce, broadcast and reduce, any shape. Where a device gives or gets blocks, one
    for each member in their order, these are the first axis. An alltoallv takes rows, DEMAND[s][t] of device s for device t, for
    the targets one after the other, and gives rows, from the sources one after the other; every device has as many rows as the one
    with the most, and fills up at the end. Devices without a result get zeros. op: "sum", "max" or "min", where something is added.
    Sizes are padded to whole parts.

    Gradients, by jax.grad and jax.vjp, are those of linear maps ("max" and "min" have none). cotangents="varying": outputs count as
    different on every device, as for lax.psum in shard_map with check_vma=False; the gradient of an all-reduce is an all-reduce of
    the cotangents, in the order of the schedule. cotangents="replicated": the outputs of all devices count as one value, as for
    lax.psum with check_vma=True; for all-reduce, all-gather and broadcast. Replicated out_specs need check_vma=False: permutes do
    not tell JAX that values are equal.
    """
    x = jnp.asarray(x)
    axis_name = tuple(axis_name) if isinstance(axis_name, list) else axis_name
    if lax.axis_size(axis_name) != RANKS:
        raise RefusedError(f"{COLLECTIVE} is for {RANKS} devices; axis {axis_name} has {lax.axis_size(axis_name)}")
    if COLLECTIVE in SUMS and not jnp.issubdtype(x.dtype, jnp.number):
        raise RefusedError(f"{COLLECTIVE} of {x.dtype}; elements must be numbers")
    if not isinstance(op, str) or op not in OPERATIONS or (op != "sum" and jnp.issubdtype(x.dtype, jnp.complexfloating)):
        raise RefusedError(f"op is {op!r} for {x.dtype}; allowed: sum, and for real numbers max and min")
    replicated = ("all-reduce", "all-gather", "broadcast")
    if cotangents not in ("varying", "replicated") or (cotangents == "replicated" and COLLECTIVE not in replicated):
        raise RefusedError(f"cotangents is {cotangents!r}; allowed: varying, and for {', '.join(replicated)} replicated")
    blocks = in_out_blocks()[0]
    if blocks is not None and (x.ndim == 0 or x.shape[0] != blocks):
        raise RefusedError(
            f"{COLLECTIVE} of shape {x.shape}; the first axis must have {blocks} {'blocks' if DEMAND is None else 'rows'}"
        )
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return execute(x, axis_name, op)
    # x differs by device as far as JAX knows, so that its cotangent may: JAX itself adds those of one value
    own = jnp.where(lax.axis_index(axis_name) < 0, jnp.zeros_like(x), x)
    return differentiable(axis_name, op, cotangents, own)


def in_out_blocks():
    """How many blocks the input and the output of a device have; None where they are one array."""
    members = RANKS if MEMBERS is None else len(MEMBERS)
    if DEMAND is not None:
        return max(map(sum, DEMAND)), max(map(sum, zip(*DEMAND, strict=True)))
    lone = BLOCKS.get(COLLECTIVE, (1, 1))
    return tuple(None if one else members for one in lone)


def execute(x, axis_name, op):
    """All iterations, one after the other, each on its part of every chunk."""
    blocks, results = in_out_blocks()
    shape = x.shape if blocks is None else x.shape[1:]
    elements = math.prod(shape)
    size = -(-elements // (CHUNKS * REPEATS))
    flat = x.reshape(1 if blocks is None else blocks, elements)
    padded = jnp.pad(flat, ((0, 0), (0, CHUNKS * REPEATS * size - elements)))
    parts = jnp.swapaxes(padded.reshape(flat.shape[0] * CHUNKS, REPEATS, size), 0, 1)
    found = lax.map(partial(iteration, axis_name=axis_name, op=op), parts)
    found = jnp.swapaxes(found, 0, 1).reshape(results or 1, CHUNKS * REPEATS * size)[:, :elements]
    return found.reshape(shape if results is None else (results, *shape))


def iteration(chunks, axis_name, op):
    """One iteration: chunks of the input of this device to chunks of its output."""
    me = lax.axis_index(axis_name)
    state = rows_at(chunks, jnp.asarray(table(LOAD))[me])
    nothing = jnp.where(me < 0, state[:1], jnp.zeros_like(state[:1]))  # differs by device as far as JAX knows, as the rest does
    kept = jnp.repeat(nothing, WIDTH * (DEPTH - 1), 0)
    for kinds, which, sends, takes, puts in loops():
        mine, widths = [jnp.asarray(flat)[me] for flat, _, _ in (sends, takes, puts)], (max(sends[2]), max(puts[2]))

        def step(carry, now, kinds=kinds, mine=mine, widths=widths):
            state, kept = carry
            which, begins, begin, count = now
            send = lax.dynamic_slice_in_dim(mine[0], begins, widths[0])
            take, put = (lax.dynamic_slice_in_dim(one, begin, widths[1]) for one in mine[1:])
            take = jnp.where(jnp.arange(widths[1]) < count, take, jnp.zeros_like(take))  # others leave rows as they are
            branches = [partial(exchange, permutes, own, nothing, axis_name) for permutes, own in kinds]
            inbox = jnp.concatenate([lax.switch(which, branches, state[send.astype(jnp.int32)]), kept])
            state, _ = lax.scan(partial(apply, inbox, op), state, (take, put), unroll=8)
            return (state, inbox[: kept.shape[0]]), None

        steps = tuple(jnp.asarray(one, jnp.int32) for one in (which, sends[1], puts[1], puts[2]))
        (state, kept), _ = lax.scan(step, (state, kept), steps)
    return rows_at(state, jnp.asarray(table(STORE))[me])


def loops():
    """The loops of an iteration: distinct permutes with the rows kept, by step which of these, and the three tables.

    Up to LOOPS stretches are a loop each. More are one loop, in which every step chooses its permutes: all devices the same ones.
    """
    stretches = [
        ((tuple((rows, tuple(pairs)) for rows, pairs in permutes), own), small(*map(table, tables)))
        for permutes, own, *tables in STRETCHES
    ]
    if len(stretches) <= LOOPS:
        return [([kind], np.zeros(len(tables[0])), *(joined([one]) for one in tables)) for kind, tables in stretches]
    kinds = {kind: number for number, kind in enumerate(sorted({kind for kind, _ in stretches}))}
    which = np.concatenate([np.full(len(tables[0]), kinds[kind]) for kind, tables in stretches])
    return [(list(kinds), which, *map(joined, zip(*(tables for _, tables in stretches), strict=True)))]


def small(send, take, put):
    """The tables of a stretch, in types as small as can be: rows sent, 3 * row taken + (0: nothing, 1: add, 2: copy), rows put."""
    return send, table(3 * take.astype(np.int32) + put % 3), table(put // 3)


def joined(tables):
    """Tables as one: by device the numbers of all steps, and of each step where its own begin, and how many they are.

    Zeros follow, so that as many as the most of a step can be read from every beginning.
    """
    counts = np.concatenate([np.full(one.shape[0], one.shape[2]) for one in tables])
    rows = [np.swapaxes(one, 0, 1).reshape(RANKS, -1) for one in tables]
    return np.concatenate([*rows, np.zeros((RANKS, max(counts)), rows[0].dtype)], 1), np.cumsum(counts) - counts, counts


def exchange(permutes, own, nothing, axis_name, leaving):
    """The rows that come to this device in a step, WIDTH of them: of each permute, then its own, then some of no use."""
    came, at = [], 0
    for rows, pairs in permutes:
        came.append(lax.ppermute(leaving[at : at + rows], axis_name, in_mesh(pairs, axis_name)))
        at += rows
    return jnp.concatenate([*came, leaving[at : at + own], jnp.repeat(nothing, WIDTH - own - at, 0)])


def in_mesh(pairs, axis_name):
    """Pairs of ranks as lax.ppermute counts devices: in the order of the axes in the mesh, whatever the order of their names."""
    if isinstance(axis_name, str) or len(axis_name) < 2:
        return pairs
    axes = jax.sharding.get_abstract_mesh().axis_names
    order = sorted(range(len(axis_name)), key=lambda one: axes.index(axis_name[one]))
    ranks = np.arange(RANKS).reshape([lax.axis_size(one) for one in axis_name])
    place = np.argsort(ranks.transpose(order).reshape(-1)).tolist()
    return [(place[source], place[target]) for source, target in pairs]


def apply(inbox, op, state, entry):
    """Apply one row of the inbox: add it to a row, copy it there, or leave that as it is."""
    take, row = (one.astype(jnp.int32) for one in entry)
    mode = take % 3
    value, old = (lax.dynamic_index_in_dim(held, at, 0, keepdims=False) for held, at in ((inbox, take // 3), (state, row)))
    new = jnp.where(mode == 2, value, old)
    if COLLECTIVE in SUMS:
        new = jnp.where(mode == 1, OPERATIONS[op](old, value), new)
    return lax.dynamic_update_index_in_dim(state, new, row, 0), None


def rows_at(rows, places):
    """These rows, and zeros for places below 0."""
    places = places.astype(jnp.int32)
    found = rows[jnp.maximum(places, 0)]
    return jnp.where((places >= 0)[:, None], found, jnp.zeros_like(found))


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def differentiable(axis_name, op, cotangents, x):
    """The collective, with its gradient."""
    return execute(x, axis_name, op)


def forward(axis_name, op, cotangents, x):
    """The result; nothing is kept but the shape, and whether JAX takes x to differ by device."""
    return execute(x, axis_name, op), x[None][:0]


def backward(axis_name, op, cotangents, empty, cotangent):
    """The transposed collective."""
    if COLLECTIVE in SUMS and op != "sum":
        raise RefusedError(f"{COLLECTIVE} with op={op} is not linear: it has no gradient here")
    if cotangents == "replicated":
        return (own_part(cotangent, axis_name),)
    if COLLECTIVE == "all-reduce":
        return (execute(cotangent, axis_name, op),)
    anywhere = jnp.pad(empty, ((0, 1), *((0, 0),) * (empty.ndim - 1)))[0]
    _, transposed = jax.vjp(partial(execute, axis_name=axis_name, op=op), anywhere)
    return transposed(cotangent)


def own_part(cotangent, axis_name):
    """The part of this device in the one value that all devices have."""
    me, members = lax.axis_index(axis_name), np.asarray(range(RANKS) if MEMBERS is None else MEMBERS)
    is_giver = (me == ROOT) if COLLECTIVE == "broadcast" else (me == members).any()
    part = cotangent[jnp.argmax(me == members)] if COLLECTIVE == "all-gather" else cotangent
    return jnp.where(is_giver, part, jnp.zeros_like(part))


differentiable.defvjp(forward, backward)
