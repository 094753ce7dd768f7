"""The interface of encodings: accept a network, encode, solve, decode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.method import Request
from certree.synth.solvers.cpsat import Budget, Status, run

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MAX_ENDPOINTS = 9
MAX_CHUNKS = 64
SOLVE_BUDGET = 10  # deterministic seconds for one solve at effort 1

#: variables of one family, keyed by indices; an index that does not exist raises KeyError
Family = Mapping[tuple[int, ...], Any]
#: transfers as int32 columns `chunk`, `op`, `step`, `src`, `dst`
Columns = dict[str, Int32]


class Encoding(ABC):
    """The question whether `steps` steps of one round suffice, with delay 1 and one accumulator per node and chunk.

    `chunk_root`: the root of every chunk; an all-reduce has none and counts them only. A joined pair of nodes (number =
    `Topology.pair_index`) carries up to its capacity of chunks per step. `self.nodes`, `self.chunks` and `self.times` are the index
    ranges; `self.into[v]` and `self.out_of[v]` the pairs at a node.
    """

    kinds: ClassVar[tuple[CollectiveKind, ...]]  # the supported collectives
    model: ClassVar[str]  # description, recorded with every answer; an answer is valid for this model only

    def __init__(self, topology: Topology, collective: Collective, chunk_root: Sequence[int], steps: int) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415

        self.problem: cp_model.CpModel = cp_model.CpModel()
        self.nodes: list[int] = topology.endpoints.tolist()
        self.collective, self.chunk_root = collective, list(chunk_root)
        self.chunks, self.steps, self.times = range(len(chunk_root)), steps, range(steps)
        self.pairs = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
        self.capacity: list[int] = topology.pair_capacity.tolist()
        self.out_of = {node: [pair for pair, (src, _) in enumerate(self.pairs) if src == node] for node in self.nodes}
        self.into = {node: [pair for pair, (_, dst) in enumerate(self.pairs) if dst == node] for node in self.nodes}

    @classmethod
    def accepts(cls, topology: Topology, collective: Collective, chunks: int) -> None:
        """Raise UnsupportedError unless the collective is supported, and the network is direct and small enough to be searched."""
        if collective.kind not in cls.kinds:
            raise UnsupportedError(f"exact: {cls.__name__} covers {', '.join(cls.kinds)}, not {collective.kind}")
        if not topology.is_direct:
            raise UnsupportedError(f"exact needs a direct network; {topology.name} has switches")
        if len(topology.endpoints) > MAX_ENDPOINTS:
            raise UnsupportedError(f"exact covers up to {MAX_ENDPOINTS} endpoints; {topology.name} has {len(topology.endpoints)}")
        if chunks > MAX_CHUNKS:
            raise UnsupportedError(f"exact covers up to {MAX_CHUNKS} chunks; {chunks} were asked for")

    @abstractmethod
    def encode(self) -> None:
        """Add every constraint to `self.problem`. O(chunks · pairs · steps) time and memory."""

    def solve(self, request: Request, budget: Budget) -> Status:
        """Run CP-SAT within the request's effort and the budget; UNKNOWN when that was not enough."""
        status, self._solver = run(self.problem, request, budget, SOLVE_BUDGET * request.effort)
        return status

    @abstractmethod
    def decode(self) -> Columns:
        """The transfers of the solution just found."""

    def family(self, name: str, *ranges: Sequence[int]) -> Family:
        """Fresh 0-1 variables for every combination of indices, in a table that cannot grow."""
        keys = product(*ranges)
        return MappingProxyType({key: self.problem.new_bool_var(f"{name}{list(key)}") for key in keys})

    def chosen(self, family: Family) -> Iterator[tuple[int, ...]]:
        """The indices of a family's variables that are 1 in the solution, in order."""
        return (key for key, variable in family.items() if self._solver.boolean_value(variable))

    def columns(self, rows: list[tuple[int, ...]]) -> Columns:
        """Rows (op, chunk, pair, step) as transfer columns."""
        op, chunk, pair, step = np.array(rows, np.int32).reshape(-1, 4).T
        ends = np.array(self.pairs, np.int32)[pair]
        return {"chunk": chunk, "op": op, "step": step, "src": ends[:, 0], "dst": ends[:, 1]}
