"""A module on all devices: what comes in, what goes out, and which device has which rank."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

import numpy as np

from certree.extras.xla.check.hlo.events import Events, Int64, Kind, UnfoldableError
from certree.extras.xla.check.hlo.folds import Turns, turns_of
from certree.extras.xla.check.hlo.machine import Machine
from certree.extras.xla.check.hlo.moves import broadcast
from certree.extras.xla.check.hlo.operations import Environment
from certree.extras.xla.check.hlo.tensors import Array, FinerError, Tensor, units_of
from certree.extras.xla.model.hlo import HloBlock, HloModule, HloOperation
from certree.models.common.budget import hold
from certree.models.common.errors import InputError

MOST_DEVICES = 4096
FOLDS = True  # whether a turn of a loop may stand for all of them
_HANDS_ON = ("func.call", "sdy.sharding_constraint", "stablehlo.optimization_barrier")
_Axes = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Outside(Tensor):
    """An array of all devices together, outside of what each of them computes."""


@dataclass(frozen=True, eq=False)
class Executed:
    """An executed module. `rank`: by device number; `inputs`: how many blocks it is given; `outputs`: by device the events of the
    blocks that it returns, in row-major order; `sent`: by device the blocks that it sends, used or not; `converted`: the types
    through which data went, where there are several. `turns`: of a loop whose first turn stands for all of them; inputs and outputs
    are then those of one turn. `is_shared`: whether the result is said to be the same on all devices."""

    events: Events
    element: str
    grain: int
    rank: Int64
    inputs: int
    outputs: Int64
    permutes: int
    sent: Int64
    converted: frozenset[str] = frozenset()
    turns: Turns | None = None
    is_shared: bool = False


def executed(
    module: HloModule, *, everything: bool = False, grain: int = 0, folds: bool = True, turns: Turns | None = None
) -> Executed:
    """Execute a module with blocks as large as it allows, or of `grain` elements at most. Cost: as its operations on all devices,
    once for each size of blocks that is tried. InputError for what is not supported.

    `folds`: whether one turn of a loop may stand for all of them; `turns`: those that were found, where everything is told."""
    folds = folds and FOLDS
    while True:
        whole = _Whole(module, grain, everything=everything, folds=folds, turns=turns)
        try:
            return whole.execute()
        except FinerError as finer:
            grain = _finer(finer.grain, whole.grain)
        except UnfoldableError:
            folds = False


def _finer(wanted: int, now: int) -> int:
    """The next size of blocks to try: as wanted where that is smaller, or else without its least prime factor."""
    if now <= 1:
        raise InputError("its data are cut in a way that is not supported")
    common = gcd(wanted, now)
    if 0 < common < now:
        return common
    return now // next((one for one in range(2, 1 << 16) if now % one == 0), now)


class _Whole(Machine):
    """The part of a program outside of the computation of each device: one device, whose data are only handed on."""

    def __init__(self, module: HloModule, grain: int, *, everything: bool, folds: bool, turns: Turns | None) -> None:
        super().__init__(module.functions, 1, grain, everything=False)
        self.module, self.tells, self.may_fold, self.turns = module, everything, folds, turns
        self.is_mesh = any(one.name == "sdy.manual_computation" for one in module.operations())
        self.found: Executed | None = None
        #: whether the result is said to be one that all devices have
        self.is_shared = False
        #: what the computation of the devices gives, which must be what the module returns
        self.returned: Outside | None = None

    def execute(self) -> Executed:
        """The module as it was executed."""
        main = self.module.functions[self.module.main]
        _require_one(len(main.types), "arguments")
        arguments = [Outside(np.zeros(0), one, (1,) * len(one.shape)) for one in main.types]
        if self.is_mesh:
            results = self.block(main.body, arguments, {})
            _require_one(len(results), "results")
            if results[0] is not self.returned:
                raise InputError("its result is not what the devices compute")
        else:
            devices = self.module.partitions * self.module.replicas
            _require_devices(devices)
            if devices < 2 or self.module.partitions > 1 < self.module.replicas:
                raise InputError(
                    f"{self.module.partitions} partitions and {self.module.replicas} replicas, and no computation of each device"
                    " of a mesh (sdy.manual_computation); expected two devices or more"
                )
            self._computed(main.body, arguments, np.arange(devices))
        if self.found is None:
            raise InputError("its result does not depend on what the devices compute")
        return self.found

    def executed(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> Sequence[Tensor]:
        """The results of an operation."""
        if operation.name == "sdy.manual_computation":
            return self._manual(operation, operands)
        if self.is_mesh and operation.name in ("stablehlo.partition_id", "stablehlo.replica_id"):
            raise InputError(f"{operation}: it is outside of what each device computes")
        if operation.name not in _HANDS_ON and any(isinstance(one, Outside) for one in operands):
            raise InputError(f"{operation}: it is outside of what each device computes, where data are only handed on")
        return operands if operation.name in _HANDS_ON[1:] else super().executed(operation, operands, environment)

    def _manual(self, operation: HloOperation, operands: list[Tensor]) -> list[Tensor]:
        """The results that every device computes on its part."""
        if self.found is not None:
            raise InputError(f"{operation}: a second one; supported is one collective")
        _require_one(sum(isinstance(one, Outside) for one in operands), "arrays of data")
        _require_one(len(operation.types), "results of the devices")
        body = operation.blocks[0]
        cuts: tuple[tuple[str, _Axes], ...] = operation.attributes["in_shardings"]
        (data,) = [at for at, one in enumerate(operands) if isinstance(one, Outside)]
        name = cuts[data][0]
        mesh = self.module.meshes.get(name)
        if mesh is None or any(other != name and any(axes) for other, axes in cuts):
            raise InputError(f"{operation}: its mesh is not one of the module, or there are several")
        sizes = dict(mesh.axes)
        free = [name for name, size in mesh.axes if size > 1 and name not in operation.attributes["manual_axes"]]
        if free:
            raise InputError(f"{operation}: axis {free[0]} of the mesh is left to XLA; supported are programs that use all axes")
        devices = prod(sizes.values())
        _require_devices(devices)
        place = _places(sizes)
        along = _only_cut(operation, cuts[data], name, sizes)
        returned = operation.attributes["out_shardings"][0]
        self.is_shared = not any(sizes.get(axis, 1) > 1 for axes in returned[1] for axis in axes)
        if not self.is_shared and along != _only_cut(operation, returned, name, sizes):
            raise InputError(f"{operation}: its result is cut along other axes of the mesh than its argument")
        rank, arguments = _mixed(along, sizes, place), list[Tensor]()
        for one, (_, axes) in zip(operands, cuts, strict=True):
            if isinstance(one, Outside):
                arguments.append(one)
            else:
                arguments.append(Tensor(_cut(one.array, axes, sizes, place, devices), one.type))
        types = [one.type for one in operands]
        local = [_part(kind.shape, axes, sizes) for kind, (_, axes) in zip(types, cuts, strict=True)]
        kinds = [type(kind)(shape, kind.element) for kind, shape in zip(types, local, strict=True)]
        arguments = [
            Outside(one.array, kind, (1,) * len(kind.shape)) if isinstance(one, Outside) else Tensor(one.array, kind)
            for one, kind in zip(arguments, kinds, strict=True)
        ]
        self._computed(body, arguments, rank)
        kind = operation.types[0]
        self.returned = Outside(np.zeros(0), kind, (1,) * len(kind.shape))
        return [self.returned]

    def _computed(self, body: HloBlock, arguments: Sequence[Tensor], rank: Int64) -> None:
        devices = len(rank)
        (place,) = [at for at, one in enumerate(arguments) if isinstance(one, Outside)]
        kind = arguments[place].type
        elements = prod(kind.shape)
        if not elements:
            raise InputError(f"devices are given no data: {kind}")
        if kind.element == "f8E8M0FNU":
            raise InputError(f"devices are given {kind}; the type has no zero, which a device has that receives nothing")
        self.grain = gcd(self.grain, elements)
        are_replicas = not self.is_mesh and self.module.replicas > 1
        machine = Machine(
            self.functions, devices, self.grain, everything=self.tells, are_replicas=are_replicas, folds=self.may_fold
        )
        machine.depth = self.depth
        units = units_of(kind.shape, self.grain)
        shape = [size // unit for size, unit in zip(kind.shape, units, strict=True)]
        blocks = elements // self.grain
        given = machine.events.add(
            Kind.INPUT,
            None,
            np.repeat(np.arange(devices), blocks),
            np.tile(np.arange(blocks), devices),
            np.zeros(devices * blocks, np.int64),
        )
        mine = [*arguments]
        mine[place] = Tensor(given.reshape(devices, *shape), kind, units)
        results = machine.block(body, mine, {})
        _require_one(len(results), "results of the devices")
        (result,) = results
        if not result.is_data:
            raise InputError("its result does not depend on what the devices are given")
        if result.type.element != kind.element:
            raise InputError(f"devices are given {kind.element} and return {result.type.element}")
        if not prod(result.shape):
            raise InputError(f"devices return no data: {result.type}")
        outputs = broadcast(result.array, devices).reshape(devices, -1)
        turns = self.turns
        if machine.fold is not None and turns is None:
            turns, outputs = turns_of(machine.fold, outputs, blocks)
        elif turns is not None:
            outputs = outputs[:, turns.outputs[0]]
        if turns is not None:
            machine.events.take_inputs(turns.inputs[0], blocks)
            blocks = turns.inputs.shape[1]
        self.found = Executed(
            machine.events,
            kind.element,
            self.grain,
            rank,
            blocks,
            outputs,
            machine.permutes,
            machine.sent,
            frozenset(machine.converted),
            turns,
            self.is_shared,
        )


def _require_one(count: int, what: str) -> None:
    if count != 1:
        raise InputError(f"{count} {what}; supported are collectives of one array")


def _require_devices(devices: int) -> None:
    if devices > MOST_DEVICES:
        raise InputError(f"{devices} devices; supported are up to {MOST_DEVICES}")


def _places(sizes: dict[str, int]) -> dict[str, Int64]:
    """The number of each device along each axis of the mesh."""
    left, found = np.arange(prod(sizes.values())), dict[str, Int64]()
    for name, size in reversed(sizes.items()):
        found[name], left = left % size, left // size
    return found


def _only_cut(operation: HloOperation, cut: tuple[str, _Axes], name: str, sizes: dict[str, int]) -> tuple[str, ...]:
    """The axes of the mesh along which an array is cut, those of its first dimension first: all of them, so that each device has a
    part."""
    found = tuple(axis for axes in cut[1] for axis in axes if sizes.get(axis, 1) > 1)
    if cut[0] != name or prod(sizes[axis] for axis in found) != prod(sizes.values()):
        raise InputError(f"{operation}: an array that is not cut along all axes of the mesh, a part for each device")
    return found


def _mixed(axes: Sequence[str], sizes: dict[str, int], place: dict[str, Int64]) -> Int64:
    """The number of the part of each device, where an axis of an array is cut along these axes of the mesh: the last changes
    first."""
    found = np.zeros(len(next(iter(place.values()))), np.int64)
    for name in axes:
        found = found * sizes[name] + place[name]
    return found


def _part(shape: Sequence[int], axes: _Axes, sizes: dict[str, int]) -> tuple[int, ...]:
    """The shape of the part of a device."""
    found = []
    for size, names in zip(shape, axes, strict=True):
        pieces = prod(sizes[name] for name in names)
        if size % pieces:
            raise InputError(f"{size} elements of an axis, cut into {pieces} parts")
        found.append(size // pieces)
    return tuple(found)


def _cut(array: Array, axes: _Axes, sizes: dict[str, int], place: dict[str, Int64], devices: int) -> Array:
    """The part of known numbers of each device."""
    if not any(axes):
        return array
    shape = _part(array.shape[1:], axes, sizes)
    begins = [_mixed(names, sizes, place) * size if names else None for names, size in zip(axes, shape, strict=True)]
    hold(8 * devices * prod(shape), f"{devices} parts of an array of shape {array.shape[1:]}")
    parts = []
    for device in range(devices):
        cut = [
            slice(None) if one is None else slice(int(one[device]), int(one[device]) + size)
            for one, size in zip(begins, shape, strict=True)
        ]
        parts.append(array[(0, *cut)])
    return np.stack(parts)
