"""Kernels interpreted on devices of JAX: `python -m tests.extras.pallas.on_kernels` prints what came of each check.

XLA_FLAGS must ask for 8 devices before this process starts. A check returns nothing, or raises.
"""

import random
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import tpu
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import certree.api as ct
from certree.extras.pallas.make.kernel_plans import plan_of_schedule
from certree.extras.pallas.model.kernel_module import written_module
from certree.extras.pallas.model.kernel_plan import KernelPlan
from certree.extras.xla.run.modules import executed, function_of
from certree.models.schedule.collective import Collective, CollectiveKind
from tests.extras.pallas.planted import row_overwritten_while_it_is_sent, wait_for_an_arrival_too_late
from tests.extras.xla.device_checks import MESH, METHODS, OWN, Checks
from tests.synth.execution import make

CHECKS = Checks()
check = CHECKS.add


def of(plan: KernelPlan, names: Any = "d", *, races: bool = False, **options: Any) -> Callable[[Any], Any]:
    """The function of a kernel, interpreted."""
    function = function_of(executed(written_module(plan), "<kernel>"))
    return lambda x: function(x, names, interpret=tpu.InterpretParams(detect_races=races), **options)


def ours(kind: str, network: str = "ring:4", **options: Any) -> Callable[[Any], Any]:
    return of(plan_of_schedule(make(METHODS.get(kind, "multitree"), network, kind)), **options)


def mapped(function: Callable[[Any], Any], mesh: Mesh = MESH) -> Any:
    """A function of one device's part, on an array whose first axis lies on the devices."""
    spec = P(mesh.axis_names)
    return jax.jit(jax.shard_map(lambda x: function(x[0])[None], mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))


def same(first: Any, second: Any) -> None:
    one, two = np.asarray(first), np.asarray(second)
    assert (one.shape, one.dtype) == (two.shape, two.dtype), (one.shape, one.dtype, two.shape, two.dtype)
    assert one.tobytes() == two.tobytes(), (one, two)


def drawn(kind: str, elements: int = 5, ranks: int = 4) -> Any:
    """Whole numbers as floats, so that every order of additions has the same bits."""
    blocks = () if kind in ("all-reduce", "all-gather") else (ranks,)
    return jnp.asarray(np.random.default_rng(1).integers(-9, 9, (ranks, *blocks, elements)).astype(np.float32))


@check
def results_are_those_of_jax() -> None:
    for kind, own in OWN.items():
        same(mapped(ours(kind))(drawn(kind)), mapped(own)(drawn(kind)))


@check
def two_calls_in_a_row() -> None:
    """In one program, on the same barrier semaphore; of a broadcast, in which devices may be a call ahead."""
    both = of(plan_of_schedule(make("binomial", "ring:4", "broadcast", root=1)))
    x = drawn("all-reduce")
    same(mapped(lambda z: both(both(z) + 1))(x), jnp.broadcast_to(x[1] + 1, x.shape))


@check
def shapes_types_and_maxima() -> None:
    for kind in (jnp.bfloat16, jnp.int32):
        x = drawn("all-reduce", 3000).astype(kind).reshape(4, 3, 1000)
        same(mapped(ours("all-reduce"))(x), mapped(OWN["all-reduce"])(x))
    x = drawn("all-reduce")
    same(mapped(ours("all-reduce", op="max"))(x), jnp.broadcast_to(x.max(0), x.shape))


@check
def meshes_of_two_axes() -> None:
    """The last name changes first, whatever the order of the axes in the mesh; a mesh may have other axes."""
    x = drawn("all-reduce", ranks=8)
    devices = np.array(jax.devices()[:8])
    plan = plan_of_schedule(make("binomial", "ring:8", "broadcast", root=1))
    same(mapped(of(plan, ("u", "v")), Mesh(devices.reshape(4, 2), ("u", "v")))(x), jnp.broadcast_to(x[1], x.shape))
    same(mapped(of(plan, ("v", "u")), Mesh(devices.reshape(4, 2), ("u", "v")))(x), jnp.broadcast_to(x[2], x.shape))
    halves = mapped(ours("all-reduce", names="v"), Mesh(devices.reshape(2, 4), ("u", "v")))(x)
    same(halves, jnp.repeat(x.reshape(2, 4, -1).sum(1), 4, 0))


@check
def members_only() -> None:
    among = Collective(CollectiveKind.ALL_REDUCE, None, (0, 2, 3))
    schedule = ct.synthesize("full:4", collective=among, method="ring")
    x = drawn("all-reduce")
    total = x[0] + x[2] + x[3]
    found = mapped(of(plan_of_schedule(schedule)))(x)
    same(found, jnp.stack([total, jnp.zeros_like(total), total, total]))


@check
def refusals() -> None:
    x, scatter = drawn("all-reduce"), ours("reduce-scatter")
    for call, words in (
        (lambda: mapped(ours("all-reduce", network="ring:3"))(x), "all-reduce is for 3 devices; axis d has 4"),
        (lambda: mapped(lambda z: ours("all-reduce")(z > 0))(x), "all-reduce of bool; elements must be real numbers"),
        (lambda: mapped(ours("all-reduce", op="mean"))(x), "op is 'mean'; allowed: sum, max and min"),
        (lambda: mapped(scatter)(x), "reduce-scatter of shape (5,); the first axis must have 4 blocks"),
        (lambda: mapped(ours("all-reduce"))(jnp.zeros((4, 1 << 22))), "bytes of VMEM; allowed: up to 16777216"),
    ):
        said = ""
        try:
            call()
        except ValueError as error:
            said = str(error)
        assert words in said, (words, said)


@check
def what_the_race_detector_of_jax_finds() -> None:
    """The detector finds a wait for an arrival that comes too late; it misses a row that is overwritten while a DMA may still read
    it."""
    plan = plan_of_schedule(make("multitree", "ring:4", "all-reduce"))
    for fault, is_found in ((wait_for_an_arrival_too_late, True), (row_overwritten_while_it_is_sent, False)):
        changed, _, _ = fault(plan, random.Random(0))
        with redirect_stdout(StringIO()) as told:
            jax.block_until_ready(mapped(of(changed, races=True))(drawn("all-reduce")))
        assert ("RACE DETECTED" in told.getvalue()) is is_found, fault


if __name__ == "__main__":
    CHECKS.run(sys.argv[1:])
