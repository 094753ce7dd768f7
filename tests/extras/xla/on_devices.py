"""Modules on devices of JAX, next to JAX's own collectives: `python -m tests.extras.xla.on_devices` prints what came of each check.

XLA_FLAGS must ask for 8 devices before this process starts. A check returns nothing, or raises.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import certree.api as ct
from certree.extras.xla.run.modules import function_of, module_of
from certree.models.common.errors import InputError
from certree.models.schedule.collective import Collective, CollectiveKind
from tests.extras.xla.device_checks import MESH, METHODS, OWN, Checks
from tests.synth.execution import make

CHECKS = Checks()
check = CHECKS.add


def ours(kind: str, root: int | None = None, network: str = "ring:4") -> Any:
    """The function of a module."""
    return function_of(
        module_of(make(METHODS.get(kind, "binomial" if root is not None else "multitree"), network, kind, root=root))
    )


def mapped(function: Callable[[Any], Any], *, vma: bool = False, out: Any = None) -> Any:
    """A function of one device's part, on an array whose first axis lies on the devices."""
    spec = P("d") if out is None else out
    body = function if out is not None else lambda x: jnp.asarray(function(x))[None]
    return jax.jit(jax.shard_map(lambda x: body(x[0]), mesh=MESH, in_specs=P("d"), out_specs=spec, check_vma=vma))


def same(first: Any, second: Any) -> None:
    """Both have one shape and type, and the same bits."""
    one, two = np.asarray(first), np.asarray(second)
    assert (one.shape, one.dtype) == (two.shape, two.dtype), (one.shape, one.dtype, two.shape, two.dtype)
    assert one.tobytes() == two.tobytes(), (one, two)


def drawn(kind: str, elements: int = 5) -> Any:
    """Whole numbers as floats, so that every order of additions has the same bits."""
    blocks = () if kind in ("all-reduce", "all-gather") else (4,)
    return jnp.asarray(np.random.default_rng(1).integers(-9, 9, (4, *blocks, elements)).astype(np.float32))


@check
def results_are_those_of_jax() -> None:
    for kind, own in OWN.items():
        same(mapped(lambda x, kind=kind: ours(kind)(x, "d"))(drawn(kind)), mapped(own)(drawn(kind)))


@check
def gradients_inside_count_outputs_as_different() -> None:
    """The convention of check_vma=False: the gradient of a loss of every device, taken inside, has the cotangents of all."""
    for kind, own in OWN.items():

        def gradient(collective: Callable[[Any], Any]) -> Any:
            return mapped(jax.grad(lambda z: (collective(z) ** 2).sum()))

        same(gradient(lambda x, kind=kind: ours(kind)(x, "d"))(drawn(kind)), gradient(own)(drawn(kind)))


@check
def gradients_inside_count_outputs_as_one() -> None:
    """The convention of check_vma=True: psum has the own cotangent, a quarter of the other convention's."""

    def gradient(collective: Callable[[Any], Any], *, vma: bool) -> Any:
        return mapped(jax.grad(lambda z: (collective(z) ** 2).sum()), vma=vma)(drawn("all-reduce"))

    one = gradient(lambda x: ours("all-reduce")(x, "d", cotangents="replicated"), vma=False)
    same(one, gradient(OWN["all-reduce"], vma=True))
    same(4 * one, gradient(lambda x: ours("all-reduce")(x, "d"), vma=False))


@check
def gradients_outside() -> None:
    """A replicated output, differentiated outside: shard_map divides the cotangent by the devices, as for psum."""
    x = drawn("all-reduce")

    def gradient(collective: Callable[[Any], Any]) -> Any:
        run = mapped(collective, out=P())
        return jax.grad(lambda z: (run(z) ** 2).sum())(x)

    same(gradient(lambda z: ours("all-reduce")(z, "d")), gradient(OWN["all-reduce"]))


@check
def gradients_of_one_root() -> None:
    x, weights = drawn("all-reduce"), jnp.arange(20, dtype=jnp.float32).reshape(4, 5)

    def gradient(kind: str, **more: Any) -> Any:
        return mapped(jax.grad(lambda y: (ours(kind, 1)(y, "d", **more) * weights[lax.axis_index("d")]).sum()))(x)

    zeros = jnp.zeros((4, 5), jnp.float32)
    same(gradient("broadcast"), zeros.at[1].set(weights.sum(0)))
    same(gradient("broadcast", cotangents="replicated"), zeros.at[1].set(weights[1]))
    same(gradient("reduce"), jnp.broadcast_to(weights[1], (4, 5)))


@check
def gathered_gradients_of_one_value() -> None:
    one = mapped(jax.grad(lambda z: (ours("all-gather")(z, "d", cotangents="replicated") ** 2).sum()))(drawn("all-gather"))
    same(one, 2 * drawn("all-gather"))


@check
def shapes_and_types() -> None:
    for shape in ((), (1,), (3, 5), (0,), (2, 0, 3), (4097,)):
        for kind in (jnp.int8, jnp.uint32, jnp.int32, jnp.float16, jnp.bfloat16, jnp.complex64):
            x = jnp.asarray(np.random.default_rng(2).integers(0, 9, (4, *shape))).astype(kind)
            same(mapped(lambda z: ours("all-reduce")(z, "d"))(x), jnp.broadcast_to(x.sum(0, dtype=kind), x.shape))
    bits = jnp.asarray(np.random.default_rng(3).integers(0, 2, (4, 5)) == 1)
    same(mapped(lambda z: ours("all-gather")(z, "d"))(bits), jnp.broadcast_to(bits, (4, 4, 5)))


@check
def maxima_and_signs_of_zero() -> None:
    x = jnp.asarray([[-0.0, 1.0, jnp.inf], [-0.0, -2.0, 0.0], [-0.0, 3.0, 1.0], [-0.0, 0.5, 2.0]], jnp.float32)
    same(mapped(lambda z: ours("all-reduce")(z, "d", op="max"))(x)[:, 1:], jnp.broadcast_to(x.max(0), x.shape)[:, 1:])
    same(mapped(lambda z: ours("all-reduce")(z, "d"))(x)[:, :1], x[:, :1])


@check
def meshes_of_two_axes() -> None:
    """Axes in the order of the mesh and in the other one; what devices send differs, so that a wrong order is seen."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))
    gather, reduce = ours("all-gather", network="torus:2x4"), ours("all-reduce", network="torus:2x4")
    for axes in (("a", "b"), ("b", "a")):
        spec = P(axes)
        run = jax.jit(jax.shard_map(lambda x, axes=axes: gather(x[0], axes)[None], mesh=mesh, in_specs=spec, out_specs=spec))
        same(run(jnp.arange(8)), jnp.broadcast_to(jnp.arange(8), (8, 8)))
        run = jax.jit(jax.shard_map(lambda x, axes=axes: reduce(x, axes), mesh=mesh, in_specs=spec, out_specs=spec))
        same(run(jnp.arange(8) ** 2), jnp.full(8, 140))


@check
def some_axes_of_three() -> None:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("p", "q", "r"))
    gather, spec = ours("all-gather"), P(("p", "q", "r"))

    def run(collective: Callable[[Any], Any]) -> Any:
        return jax.jit(jax.shard_map(lambda x: collective(x[0])[None], mesh=mesh, in_specs=spec, out_specs=spec))(jnp.arange(8))

    for axes in (("p", "r"), ("r", "p"), ("q", "p")):
        same(run(partial(gather, axis_name=axes)), run(partial(lax.all_gather, axis_name=axes)))


@check
def gradients_of_a_value_that_all_have() -> None:
    """With check_vma=True JAX adds the cotangents of one value itself, as it does for psum."""
    x = drawn("all-reduce")

    def gradient(collective: Callable[[Any], Any]) -> Any:
        run = jax.shard_map(collective, mesh=MESH, in_specs=P(), out_specs=P("d"), check_vma=True)
        return jax.jit(jax.grad(lambda z: (run(z) ** 2).sum()))(x)

    same(gradient(lambda z: ours("all-reduce")(z, "d")), gradient(lambda z: lax.pcast(lax.psum(z, "d"), "d", to="varying")))


@check
def checked_for_varying_values() -> None:
    same(
        mapped(lambda x: ours("all-reduce")(x, "d"), vma=True)(drawn("all-reduce")), mapped(OWN["all-reduce"])(drawn("all-reduce"))
    )


@check
def members_only() -> None:
    x = drawn("all-reduce")
    among = function_of(
        module_of(ct.synthesize("full:4", collective=Collective(CollectiveKind.ALL_REDUCE, None, (0, 2, 3)), method="ring"))
    )
    total = x[jnp.array([0, 2, 3])].sum(0)
    same(mapped(lambda z: among(z, "d"))(x), jnp.stack([total, jnp.zeros_like(total), total, total]))
    grad = mapped(jax.grad(lambda y: (among(y, "d") * (1.0 + lax.axis_index("d"))).sum()))(x)
    same(grad, jnp.array([8.0, 0, 8, 8], jnp.float32)[:, None] * jnp.ones_like(x))


@check
def calls_of_the_api() -> None:
    schedule = make("multitree", "torus:2x4", "all-reduce")
    x = jnp.arange(24, dtype=jnp.float32).reshape(8, 3)
    same(ct.jax.all_reduce(schedule, x), jnp.broadcast_to(x.sum(0), x.shape))
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("u", "v"))
    same(jax.jit(partial(ct.jax.all_reduce, schedule, mesh=mesh, op="max"))(x), jnp.broadcast_to(x.max(0), x.shape))
    same(jax.grad(lambda z: (ct.jax.all_reduce(schedule, z)[0] * jnp.arange(3.0)).sum())(x), jnp.tile(jnp.arange(3.0), (8, 1)))


@check
def gradients_of_calls() -> None:
    """Values that JAX knows to differ by device: the gradient of a linear map is its transpose."""
    one, blocks = jnp.ones((8, 3)), jnp.ones((8, 8, 3))
    rows, many = jnp.arange(24.0).reshape(8, 3), jnp.arange(192.0).reshape(8, 8, 3)
    for kind, call, x, weights, due in (
        ("all-reduce", ct.jax.all_reduce, one, rows, jnp.broadcast_to(rows.sum(0), (8, 3))),
        ("all-gather", ct.jax.all_gather, one, many, many.sum(0)),
        ("reduce-scatter", ct.jax.reduce_scatter, blocks, rows, jnp.broadcast_to(rows, (8, 8, 3))),
        ("all-to-all", ct.jax.all_to_all, blocks, many, jnp.swapaxes(many, 0, 1)),
    ):
        schedule = make(METHODS.get(kind, "multitree"), "torus:2x4", kind)
        same(jax.grad(lambda z, call=call, schedule=schedule, weights=weights: (call(schedule, z) * weights).sum())(x), due)
    several = make("packing", "mesh:2x4", "all-reduce")  # its steps choose their permutes
    same(jax.grad(lambda z: (ct.jax.all_reduce(several, z) * rows).sum())(one), jnp.broadcast_to(rows.sum(0), (8, 3)))


@check
def refusals() -> None:
    x, reduce, scatter = drawn("all-reduce"), ours("all-reduce"), ours("reduce-scatter")
    wide = make("multitree", "ring:9", "all-reduce")
    for call, words in (
        (lambda: mapped(lambda z: ours("all-reduce", network="ring:3")(z, "d"))(x), "all-reduce is for 3 devices; axis d has 4"),
        (lambda: mapped(lambda z: reduce(z > 0, "d"))(x), "all-reduce of bool; elements must be numbers"),
        (lambda: mapped(lambda z: reduce(z, "d", op="mean"))(x), "op is 'mean' for float32; allowed: sum"),
        (lambda: mapped(lambda z: reduce(z, "d", cotangents="one"))(x), "cotangents is 'one'; allowed: varying"),
        (lambda: mapped(lambda z: scatter(z, "d"))(x), "reduce-scatter of shape (5,); the first axis must have 4 blocks"),
        (lambda: mapped(jax.grad(lambda z: reduce(z, "d", op="max").sum()))(x), "with op=max is not linear"),
        (lambda: ct.jax.all_reduce(wide, jnp.zeros((9, 1))), "9 ranks; JAX has 8 devices"),
        (lambda: ct.jax.all_reduce(wide, jnp.zeros((9, 1)), mesh=MESH), "9 ranks; the mesh has 4 devices"),
        (lambda: ct.jax.all_gather(make("ring", "ring:4", "all-reduce"), x), "the schedule is of all-reduce, not all-gather"),
        (lambda: ct.jax.all_reduce(make("ring", "ring:4", "all-reduce"), x[:3]), "an array of shape (3, 5); the first axis"),
        (lambda: ct.jax.all_reduce(make("ring", "ring:4", "all-reduce"), x > 0), "all-reduce of bool; elements must be numbers"),
    ):
        said = ""
        try:
            call()
        except (ValueError, InputError) as error:
            said = str(error)
        assert words in said, (words, said)


if __name__ == "__main__":
    CHECKS.run(sys.argv[1:])
