"""Operations on tensors that are not control flow: known numbers are computed, data are moved, permuted and added up as events."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from certree.extras.xla.check.hlo.events import ZERO, Events, Int64, Kind
from certree.extras.xla.check.hlo.gathers import scattered
from certree.extras.xla.check.hlo.moves import MOVES, broadcast, padded
from certree.extras.xla.check.hlo.numbers import compared, converted, dtype_of, require_exact, whole
from certree.extras.xla.check.hlo.tensors import Tensor, compact, elementwise, in_blocks, is_splat, known, splat, units_of
from certree.extras.xla.model.hlo import HloBlock, HloOperation, HloType
from certree.models.common.budget import hold, spend
from certree.models.common.errors import InputError

SUMS = {"stablehlo.add": "sum", "stablehlo.maximum": "max", "stablehlo.minimum": "min"}
RETURNS = ("stablehlo.return", "func.return", "sdy.return")
Environment = dict[int, Tensor]
#: of which the order changes nothing
_REDUCES = {f"stablehlo.{name}" for name in ("add", "multiply", "maximum", "minimum", "and", "or", "xor")}


class Operations:
    """The devices of a program: partitions, or `are_replicas`. `grain`: elements of a block. `handlers`: by name of an operation
    what executes it, where `MOVES` has nothing."""

    def __init__(self, devices: int, grain: int, *, everything: bool, are_replicas: bool) -> None:
        self.devices, self.grain = devices, grain
        self.events = Events(everything=everything)
        self.permutes, self.are_replicas = 0, are_replicas
        #: types from and to which data were converted
        self.converted = set[str]()
        #: by device the blocks that it sent
        self.sent = np.zeros(devices, np.int64)
        self.handlers: dict[str, Callable[[HloOperation, list[Tensor], Environment], Sequence[Tensor]]] = {
            "stablehlo.constant": self._constant,
            "stablehlo.partition_id": self._device,
            "stablehlo.replica_id": self._device,
            "stablehlo.iota": self._iota,
            "stablehlo.compare": self._compare,
            "stablehlo.convert": self._convert,
            "stablehlo.select": self._select,
            "stablehlo.pad": self._pad,
            "stablehlo.reduce": self._reduce,
            "stablehlo.scatter": self._scatter,
            "stablehlo.collective_permute": self._permute,
        }

    def data(self, tensor: Tensor, operation: HloOperation) -> Tensor:
        """A tensor as data: known numbers become events of constants."""
        if tensor.is_data:
            return tensor
        units = units_of(tensor.shape, self.grain)
        shape = [size // unit for size, unit in zip(tensor.shape, units, strict=True)]
        array = tensor.array
        if is_splat(array) and array.size:
            event = self.events.constant(operation, array.reshape(-1)[0].item())
            return Tensor(splat(np.array([event]), shape), tensor.type, units)
        values, places = np.unique(in_blocks(array, units), return_inverse=True)
        events = np.array([self.events.constant(operation, one) for one in values.tolist()], np.int64)
        return Tensor(events[places].reshape(array.shape[0], *shape), tensor.type, units)

    def moved(self, operation: HloOperation, operands: list[Tensor]) -> Tensor:
        """The result of an operation of `MOVES`."""
        count = {"stablehlo.concatenate": len(operands), "stablehlo.dynamic_update_slice": 2}.get(operation.name, 1)
        moving = operands[:count]
        if any(one.is_data for one in moving):
            moving = [self.data(one, operation) for one in moving]
        if operation.name == "stablehlo.dynamic_update_slice":
            moving[1] = self.traced(operation, moving[1])
            return MOVES[operation.name](operation, [*moving, *operands[count:]], self.grain)
        found = MOVES[operation.name](operation, [*moving, *operands[count:]], self.grain)
        return self.traced(operation, found)

    def _scatter(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        """Parts that an array gets at places, where they replace what is there or are added to it."""
        if len(operands) != 3:
            raise InputError(f"{operation}: several arrays")
        x, indices, updates = operands
        (body,) = operation.blocks
        first = body.operations[0]
        replaces, adds = first.name in RETURNS and first.operands == body.arguments[1:], first.name in SUMS and _is_one(body)
        if not replaces and not adds:
            raise InputError(f"{operation}: it neither replaces what is there nor adds to it")
        if x.is_data or updates.is_data:
            x, updates = self.data(x, operation), self.traced(operation, self.data(updates, operation))
        elif adds:
            raise InputError(f"{operation}: computes with constants of {x.type.element}, which is not supported")
        found = scattered(operation, x, indices, updates)
        array = found.array.reshape(-1)
        if adds:
            device = found.places // (array.size // found.array.shape[0])
            array[found.places] = self._added(first, x.type, device, array[found.places], found.values)
        else:
            array[found.places] = found.values
        return [x.moved(array.reshape(found.array.shape), operation.types[0], self.grain)]

    def traced(self, operation: HloOperation, tensor: Tensor) -> Tensor:
        """Data after an operation that moves them."""
        return replace(tensor, array=self.events.moved(operation, tensor.array)) if tensor.is_data else tensor

    def _constant(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        kind = operation.types[0]
        value = operation.attributes["value"]
        dtype = _told_of(operation, dtype_of, kind.element)
        if _is_real(kind.element):  # jaxlib gives some types as texts, which are rounded
            _told_of(operation, require_exact, value, kind.element)
        if value.size and not any(value.strides):
            return [Tensor(splat(value.reshape(-1)[:1].astype(dtype), kind.shape), kind)]
        return [Tensor(value.astype(dtype)[None], kind)]

    def _device(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        is_own = self.are_replicas == (operation.name == "stablehlo.replica_id")
        numbers = np.arange(self.devices if is_own else 1)  # there is one partition of a replica, or one replica of a partition
        return [Tensor(numbers.astype(dtype_of(operation.types[0].element)), operation.types[0])]

    def _iota(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        kind, axis = operation.types[0], operation.attributes["iota_dimension"]
        hold(8 * kind.shape[axis], f"{operation} of {kind.shape[axis]:,} numbers")
        numbers = np.arange(kind.shape[axis])
        if _is_real(kind.element):
            _told_of(operation, require_exact, numbers, kind.element)
        numbers = numbers.astype(_told_of(operation, dtype_of, kind.element))
        shape = [1] * (len(kind.shape) + 1)
        shape[axis + 1] = kind.shape[axis]
        return [Tensor(np.broadcast_to(numbers.reshape(shape), (1, *kind.shape)), kind)]

    def _compare(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        for one in operands:
            known(one, f"{operation}: what it compares")
        return [Tensor(compared(operation, operands), operation.types[0])]

    def _convert(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        (x,), kind = operands, operation.types[0]
        if not x.is_data:
            return [Tensor(_told_of(operation, converted, x.array, kind.element), kind)]
        if x.type.element != kind.element and not (_is_real(x.type.element) and _is_real(kind.element)):
            raise InputError(f"{operation}: data of {x.type.element} become {kind.element}, which may change them")
        if x.type.element != kind.element:
            self.converted |= {x.type.element, kind.element}
        return [replace(x, type=kind)]

    def _select(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        condition, one, two = operands
        chosen = known(condition, f"{operation}: its condition")
        kind = operation.types[0]
        if not condition.shape:
            chosen = chosen.reshape(-1, *(1,) * len(kind.shape))
        if not one.is_data and not two.is_data:
            return [Tensor(elementwise(np.where, [chosen, one.array, two.array]), kind)]
        small = compact(chosen)
        if small.size and (small == small.flat[0]).all():  # no choice: nothing is moved
            return [self.data(one if small.flat[0] else two, operation)]
        left, right = self.data(one, operation), self.data(two, operation)
        if condition.shape:
            chosen = in_blocks(chosen, left.scale)
        return [self.traced(operation, replace(left, array=np.where(chosen, left.array, right.array), type=kind))]

    def _pad(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        x, value = operands
        numbers = known(value, f"{operation}: its filling").reshape(-1)
        if (numbers != numbers[0]).any():
            raise InputError(f"{operation}: its filling differs by device, or is not a number")
        number = numbers[0].item()
        fill = self.events.constant(operation, number) if x.is_data else number
        return [self.traced(operation, padded(operation, x, fill, self.grain))]

    def _reduce(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        """Known numbers, combined along axes; in which order data are is left to XLA."""
        body = operation.blocks[0]
        first = body.operations[0]
        if any(one.is_data for one in operands) or len(operands) != 2 or first.name not in _REDUCES or not _is_one(body):
            raise InputError(f"{operation}: supported are reductions of numbers that are known, by one operation of two of them")
        x, start = operands
        axes = operation.attributes["dimensions"]
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        hold(8 * x.array.size, f"{operation} of {x.array.size:,} numbers")
        rows = x.array.transpose(0, *(axis + 1 for axis in (*axes, *kept)))
        rows = rows.reshape(
            rows.shape[0], -1 if rows.size else prod(x.shape[axis] for axis in axes), *(x.shape[axis] for axis in kept)
        )
        spend(rows.size, f"{operation} of {rows.size:,} numbers")
        found = start.array.reshape(-1, *(1,) * len(kept))
        for at in range(rows.shape[1]):
            found = whole(first, [replace(start, array=found), replace(start, array=rows[:, at])])
        kind = operation.types[0]
        return [Tensor(np.broadcast_to(found, (len(found), *kind.shape)), kind)]

    def _permute(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        if len(operands) != 1:
            raise InputError(f"{operation}: {len(operands)} arrays at once")
        if (operation.attributes.get("channel_handle", 0) <= 0) != self.are_replicas:
            which = ("partitions", "replicas") if self.are_replicas else ("replicas", "partitions")
            raise InputError(f"{operation}: by its channel it is among {which[0]}; the devices are {which[1]}")
        (x,) = operands
        pairs = operation.attributes["source_target_pairs"]
        for side, ends in zip(("sends", "receives"), zip(*pairs, strict=True), strict=False):
            if len(set(ends)) < len(ends):
                raise InputError(f"{operation}: device {max(ends, key=ends.count)} {side} twice")
            if not 0 <= min(ends) <= max(ends) < self.devices:
                raise InputError(f"{operation}: device {max(ends)}; there are {self.devices}")
        sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
        array = broadcast(x.array, self.devices)
        hold(8 * array.size, f"{operation} of {array.size:,} numbers or blocks")
        found = np.zeros(array.shape, array.dtype)
        self.permutes += 1
        if not len(pairs):
            return [replace(x, array=found)]
        if not x.is_data:
            found[targets] = array[sources]
            return [replace(x, array=found)]
        leaving = array[sources]
        self.sent[sources] += leaving[0].size
        device = np.repeat(targets, leaving[0].size)
        flat = leaving.reshape(-1)
        apart = sources != targets
        came = self.events.add(Kind.RECEIVED, operation, device, flat, np.zeros_like(flat)).reshape(leaving.shape)
        stays = np.flatnonzero(~apart)
        came[stays] = self.events.moved(operation, leaving[stays])
        found = self.events.moved(operation, found)
        found[targets] = came
        return [replace(x, array=found)]

    def sum(self, operation: HloOperation, operands: list[Tensor]) -> Tensor:
        """Data that are added up, element by element."""
        left, right = (self.data(one, operation) for one in operands)
        one, two = np.broadcast_arrays(left.array, right.array)
        each = one[0].size if one.shape[0] else 0
        device = np.repeat(np.arange(one.shape[0]), each)
        found = self._added(operation, left.type, device, one.reshape(-1), two.reshape(-1))
        return Tensor(found.reshape(one.shape), left.type, left.units)

    def _added(self, operation: HloOperation, kind: HloType, device: Int64, one: Int64, two: Int64) -> Int64:
        """Events of sums, on these devices; a block to which nothing is added stays as it is."""
        neutral = self.events.constants.get(_neutral(SUMS[operation.name], kind), -1)
        found = np.where(one == neutral, two, one)
        adds = (one != neutral) & (two != neutral)
        if self.events.everything and neutral == ZERO:
            adds[:] = True  # a history tells of what adds nothing, too
        if adds.any():
            found[adds] = self.events.add(Kind.SUM, operation, device[adds], one[adds], two[adds])
        return found


def _is_one(body: HloBlock) -> bool:
    """Whether a block returns what one operation makes of its two arguments, in their order."""
    first, last = body.operations[0], body.operations[-1]
    is_made = len(body.arguments) == 2 and first.operands == body.arguments and last.operands == first.results
    return is_made and len(body.operations) == 2 and last.name in RETURNS


def _told_of(operation: HloOperation, function: Callable[..., Any], *of: Any) -> Any:
    """The result of a function; an InputError with the operation."""
    try:
        return function(*of)
    except InputError as error:
        raise InputError(f"{operation}: {error}") from None


def _is_real(element: str) -> bool:
    return element.startswith(("f", "bf"))


def _neutral(name: str, kind: HloType) -> Any:
    """The number that changes nothing."""
    if name == "sum":
        return 0
    least, most = (-np.inf, np.inf)
    if kind.element.startswith("complex"):
        raise InputError(f"the {name} of complex numbers is not supported")
    if not _is_real(kind.element):
        limits = np.iinfo(dtype_of(kind.element)) if kind.element != "i1" else None
        least, most = (0, 1) if limits is None else (int(limits.min), int(limits.max))
    return least if name == "max" else most
