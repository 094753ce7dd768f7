"""StableHLO modules as plain data: functions, operations, and where each of them stands in its file."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HloType:
    """A tensor with a static shape. `element`: as StableHLO writes it, such as f32, i1 and ui8."""

    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"


@dataclass(frozen=True, slots=True, eq=False)
class HloBlock:
    """Operations one after the other; the last one returns. `arguments`: numbers of values."""

    arguments: tuple[int, ...]
    operations: "tuple[HloOperation, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class HloOperation:
    """One operation. `where`: its line, or what else its file says of its place. Operands and results are numbers of values, of
    which every one is defined once in a module; `attributes`: those that matter, as numbers and tuples."""

    name: str
    where: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[HloType, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    blocks: tuple[HloBlock, ...] = ()

    def __str__(self) -> str:
        return f"{self.where}: {self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class HloFunction:
    """A function: the types of its arguments, and its body."""

    name: str
    types: tuple[HloType, ...]
    body: HloBlock


@dataclass(frozen=True, slots=True)
class HloMesh:
    """The axes of a mesh and their sizes; device numbers count them with the last one changing first."""

    axes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class HloModule:
    """A module. `partitions`, `replicas`: of how many devices it says it is, where it states no mesh."""

    functions: dict[str, HloFunction]
    meshes: dict[str, HloMesh]
    partitions: int
    replicas: int
    main: str = "main"

    #: the layout of data that its verdict finds is not in the file: which collective it computes is
    kind = None

    def operations(self) -> Iterator[HloOperation]:
        """All operations of all functions."""
        open_ = [one.body for one in self.functions.values()]
        while open_:
            for operation in open_.pop().operations:
                yield operation
                open_ += operation.blocks
