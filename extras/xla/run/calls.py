"""`ct.jax`: the collective of a schedule on an array whose first axis lies on the devices of a mesh.

The functions have the names of the collectives. They are those of the module that `certree export --format jax` writes, in
`jax.shard_map`; under `jax.jit` and `jax.grad` as well.
"""

from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from certree.extras.xla.run.modules import MOST_MODULES, function_of, module_of
from certree.models.common.errors import InputError, short
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

_Source = str | Path | AnySchedule


def call(schedule: _Source, x: Any, *, mesh: Any = None, op: str = "sum", collective: str | None = None) -> Any:
    """Execute the collective of a schedule on an array over devices of JAX.

    Parameters
    ----------
    schedule
        The schedule, or the path of its file; rank r is its r-th endpoint in the order of ids.
    x
        An array whose first axis has what each rank gives; the other axes as the function of the module takes them.
    mesh
        The devices, in the order of ranks: of several axes the last one changes first. By default the first devices of JAX.
    op
        "sum", "max" or "min", where the collective adds.
    collective
        The collective that the schedule must have, such as "all-reduce"; by default any.

    Returns
    -------
    Array
        The results, of every rank along the first axis.

    Raises
    ------
    InputError
        Too few devices, a mesh or an array of another size, or elements that cannot be added.
    ToolMissingError
        JAX is not installed.

    """
    made = module_of(schedule)
    import jax
    from jax.sharding import Mesh

    ranks = made.RANKS
    if collective not in (None, made.COLLECTIVE):
        raise InputError(f"the schedule is of {made.COLLECTIVE}, not {collective}")
    if mesh is None:
        found = jax.devices()
        if len(found) < ranks:
            hint = f"--xla_force_host_platform_device_count={ranks} in XLA_FLAGS makes them of a CPU"
            raise InputError(f"{ranks} ranks; JAX has {len(found)} devices ({hint})")
        mesh = Mesh(found[:ranks], ("ranks",))
    elif not isinstance(mesh, Mesh):
        raise InputError(f"mesh is {short(mesh)}; expected a jax.sharding.Mesh")
    if mesh.size != ranks:
        raise InputError(f"{ranks} ranks; the mesh has {mesh.size} devices")
    try:
        array = jax.numpy.asarray(x)
    except (TypeError, ValueError):
        raise InputError(f"x is {short(x)}; expected an array of numbers") from None
    if not array.ndim or array.shape[0] != ranks:
        raise InputError(f"an array of shape {tuple(array.shape)}; the first axis must have {ranks} ranks")
    try:
        return _compiled(made, mesh, op)(array)
    except made.RefusedError as error:
        raise InputError(str(error)) from None


@lru_cache(MOST_MODULES)
def _compiled(made: ModuleType, mesh: Any, op: str) -> Any:
    """The collective of a module on a mesh; JAX compiles it once for each shape and type."""
    import jax
    from jax.sharding import PartitionSpec

    names = tuple(mesh.axis_names)

    def on_device(part: Any) -> Any:
        return function_of(made)(part[0], names, op=op)[None]

    spec = PartitionSpec(names)
    return jax.jit(jax.shard_map(on_device, mesh=mesh, in_specs=spec, out_specs=spec))


def all_reduce(schedule: _Source, x: Any, *, mesh: Any = None, op: str = "sum") -> Any:
    """Execute a schedule of collective all-reduce on devices of JAX. Arguments and errors as in `call`.

    Result: the sum of all.
    """
    return call(schedule, x, mesh=mesh, op=op, collective="all-reduce")


def reduce_scatter(schedule: _Source, x: Any, *, mesh: Any = None, op: str = "sum") -> Any:
    """Execute a schedule of collective reduce-scatter on devices of JAX. Arguments and errors as in `call`.

    Result: of every rank the sum of its block; x has blocks along its second axis.
    """
    return call(schedule, x, mesh=mesh, op=op, collective="reduce-scatter")


def all_gather(schedule: _Source, x: Any, *, mesh: Any = None) -> Any:
    """Execute a schedule of collective all-gather on devices of JAX. Arguments and errors as in `call`.

    Result: all blocks at every rank.
    """
    return call(schedule, x, mesh=mesh, collective="all-gather")


def all_to_all(schedule: _Source, x: Any, *, mesh: Any = None) -> Any:
    """Execute a schedule of collective all-to-all on devices of JAX. Arguments and errors as in `call`.

    Result: of every rank the blocks for it, one from each rank; x has blocks along its second axis.
    """
    return call(schedule, x, mesh=mesh, collective="all-to-all")


def broadcast(schedule: _Source, x: Any, *, mesh: Any = None) -> Any:
    """Execute a schedule of collective broadcast on devices of JAX. Arguments and errors as in `call`.

    Result: what the root gives, at every rank.
    """
    return call(schedule, x, mesh=mesh, collective="broadcast")


def reduce(schedule: _Source, x: Any, *, mesh: Any = None, op: str = "sum") -> Any:
    """Execute a schedule of collective reduce on devices of JAX. Arguments and errors as in `call`.

    Result: the sum of all at the root, and zeros elsewhere.
    """
    return call(schedule, x, mesh=mesh, op=op, collective="reduce")


def gather(schedule: _Source, x: Any, *, mesh: Any = None) -> Any:
    """Execute a schedule of collective gather on devices of JAX. Arguments and errors as in `call`.

    Result: all blocks at the root, and zeros elsewhere.
    """
    return call(schedule, x, mesh=mesh, collective="gather")


def scatter(schedule: _Source, x: Any, *, mesh: Any = None) -> Any:
    """Execute a schedule of collective scatter on devices of JAX. Arguments and errors as in `call`.

    Result: of every rank its block of the root; x has blocks along its second axis.
    """
    return call(schedule, x, mesh=mesh, collective="scatter")


def alltoallv(schedule: _Source, x: Any, *, mesh: Any = None) -> Any:
    """Execute a schedule of collective alltoallv on devices of JAX. Arguments and errors as in `call`.

    Result: of every rank the rows for it, from one rank after the other; x has rows along its second axis.
    """
    return call(schedule, x, mesh=mesh, collective="alltoallv")
