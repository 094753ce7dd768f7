"""Time bounds against exhaustive search: on small networks no run at all, scratch buffers included, is faster.

The model of the search is finer than any schedule: messages of any granules may start in any cycle, carry any sum that their sender
has of each granule, and pass through nodes that forward; nodes keep everything they ever got, and add any number of disjoint sums
at a time.
"""

from dataclasses import replace
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from ortools.sat.python import cp_model

from certree.api.evidence import found_time_bounds
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import UNKNOWN_LATENCY
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, best_time
from certree.verify.bounds.witness import Bound

#: a message over h links arrives whole 2h + 2 cycles and its granules after it is fired; an addition takes 2 cycles
QUICK = replace(
    load_machine("multitree"), flit_bytes=1, link_latency_cycles=1, router_cycles=1, ni_cycles=0, head_flits=1,
    reduce_bytes_per_cycle=64, reduce_quantum_cycles=1, reduce_start_cycles=1,
)  # fmt: skip


class Runs:
    """All runs of a collective on a network with links of one latency, within some cycles, as a constraint program."""

    def __init__(self, of: TimeInstance, cycles: int) -> None:
        self.model, self.of, self.cycles = cp_model.CpModel(), of, cycles
        topology = of.instance.topology
        self.nodes = topology.endpoints.tolist()
        self.relays = np.flatnonzero(topology.forwards).tolist()
        self.links = set(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))
        # of a sum the contributions, of a copy the source
        self.sums = [sum(1 << node for node in some) for k in range(1, len(self.nodes) + 1) for some in combinations(self.nodes, k)]
        self.shared = not of.instance.collective.reduces
        self.granules = self.message()
        if self.shared:
            self.sums = [1]
        self.has = {
            (node, granule, some, t): self.model.new_bool_var("")
            for node in self.nodes for granule in range(len(self.granules)) for some in self.sums for t in range(cycles + 1)
        }  # fmt: skip
        self.got: dict[tuple[int, int, int, int], list[cp_model.IntVar]] = {}
        self.busy: dict[tuple[tuple[int, int], int], list[cp_model.IntVar]] = {}
        for route in self.routes():
            for t in range(cycles):
                self.messages(route, t)
        lanes = topology.pair_capacity.tolist()
        for ((src, dst), _), taken in self.busy.items():
            self.model.add(sum(taken) <= lanes[topology.pair_index(np.array([src]), np.array([dst]))[0]])
        self.holdings()
        for granule, (_, sinks) in enumerate(self.granules):
            for node in sinks:
                self.model.add(self.has[node, granule, self.sums[-1], cycles] == 1)

    def message(self) -> list[tuple[int, list[int]]]:
        """For each granule the source, of a sum any node, and who has to get it."""
        kind, nodes, root = str(self.of.instance.collective.kind), self.nodes, self.of.instance.collective.root or 0
        share = self.of.granules_of(self.of.instance.shares[0])
        blocks = {
            "all-gather": [(node, nodes) for node in nodes],
            "reduce-scatter": [(node, [node]) for node in nodes],
            "scatter": [(root, [node]) for node in nodes if node != root],
            "gather": [(node, [root]) for node in nodes if node != root],
            "all-to-all": [(node, [other]) for node in nodes for other in nodes if node != other],
        }
        if kind in blocks:
            return [block for block in blocks[kind] for _ in range(share)]
        return [(root, [root] if kind == "reduce" else nodes)] * self.of.granules

    def routes(self) -> list[tuple[int, ...]]:
        every = sorted({*self.nodes, *self.relays})
        paths = (
            path for k in range(2, len(every) + 1) for path in permutations(every, k) if {path[0], path[-1]} <= set(self.nodes)
        )
        return [path for path in paths if set(pairwise(path)) <= self.links and set(path[1:-1]) <= set(self.relays)]

    def messages(self, route: tuple[int, ...], t: int) -> None:
        hop, hops = 2, len(route) - 1
        for count in range(1, len(self.granules) + 1):
            complete = t + 1 + hop * hops + 1 + count
            if complete > self.cycles:
                return
            sent = self.model.new_bool_var("")
            for place, link in enumerate(pairwise(route)):
                for cycle in range(1 + count):
                    self.busy.setdefault((link, t + hop * place + cycle), []).append(sent)
            content = []
            for granule in range(len(self.granules)):
                options = [self.model.new_bool_var("") for _ in self.sums]
                for some, option in zip(self.sums, options, strict=True):
                    self.model.add_implication(option, self.has[route[0], granule, some, t])
                    self.got.setdefault((route[-1], granule, some, complete), []).append(option)
                content += options
                self.model.add(sum(options) <= sent)
            self.model.add(sum(content) == count * sent)

    def holdings(self) -> None:
        add = self.of.addition
        for (node, granule, some, t), held in self.has.items():
            why = list(self.got.get((node, granule, some, t), ()))
            if t:
                why.append(self.has[node, granule, some, t - 1])
            elif (self.granules[granule][0] == node) if self.shared else some == 1 << node:
                continue
            if t >= add and not self.shared:
                for parts in partitions(some):
                    if len(parts) > 1:
                        whole = self.model.new_bool_var("")
                        for part in parts:
                            self.model.add_implication(whole, self.has[node, granule, part, t - add])
                        why.append(whole)
            self.model.add(sum(why) >= held)

    def exist(self) -> bool:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        answer = solver.solve(self.model)
        assert answer in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
        return answer != cp_model.INFEASIBLE


def partitions(some: int) -> list[list[int]]:
    """All ways to split a set of bits."""
    if not some:
        return [[]]
    lowest, found, rest = some & -some, [], some & (some - 1)
    part = rest
    while True:
        found += [[lowest | part, *others] for others in partitions(rest & ~part)]
        if not part:
            return found
        part = (part - 1) & rest


def all_bounds(of: TimeInstance) -> list[Bound]:
    bounds = find_bounds(of.instance.topology, of.instance.collective)
    return found_time_bounds(of.instance, bounds[:1], of.message_bytes, of.machine)


def of_instance(spec: str, kind: str, granules: int, used: Machine) -> TimeInstance:
    """On that network with links of the machine's latency."""
    topology = parse_topology(spec)
    topology = replace(topology, latency=np.full_like(topology.latency, UNKNOWN_LATENCY))
    root = 0 if kind in ("broadcast", "reduce", "scatter", "gather") else None
    return TimeInstance(Instance(topology, parse_collective(kind, root)), granules, used)


@pytest.mark.parametrize(
    ("spec", "kind", "granules", "bound", "fastest"),
    [
        ("ring:2", "all-reduce", 1, 7, 7), ("ring:2", "all-reduce", 3, 9, 9), ("ring:3", "all-reduce", 1, 7, 7),
        ("ring:3", "all-reduce", 2, 8, 8), ("ring:3", "all-reduce", 3, 9, 9), ("ring:3", "all-reduce", 4, 10, 10),
        ("mesh:1x3", "all-reduce", 1, 9, 9), ("mesh:1x3", "all-reduce", 2, 10, 12), ("ring:4", "all-reduce", 1, 9, 9),
        ("ring:4", "all-reduce", 2, 9, 12), ("mesh:1x4", "all-reduce", 1, 11, 13), ("full:4", "all-reduce", 3, 9, 9),
        ("mesh:1x3", "reduce", 2, 10, 11), ("ring:4", "reduce", 2, 9, 10), ("ring:3", "broadcast", 4, 8, 8),
        ("mesh:1x4", "broadcast", 3, 11, 14), ("ring:3", "all-gather", 3, 5, 5), ("ring:3", "all-gather", 6, 6, 6),
        ("mesh:1x3", "all-gather", 6, 8, 10), ("ring:4", "all-gather", 8, 7, 10), ("ring:3", "reduce-scatter", 6, 8, 8),
        ("mesh:1x3", "reduce-scatter", 3, 9, 9), ("ring:4", "reduce-scatter", 4, 9, 9), ("mesh:1x3", "gather", 3, 7, 7),
        ("mesh:1x4", "scatter", 4, 9, 9), ("ring:4", "gather", 4, 7, 7), ("ring:4", "scatter", 8, 7, 8),
        ("ring:3", "all-to-all", 9, 7, 7), ("switch:3", "all-to-all", 9, 12, 13), ("switch:3", "all-reduce", 2, 12, 13),
        ("switch:4", "all-reduce", 1, 11, 13), ("switch:3", "all-gather", 3, 8, 9), ("switch:4", "all-gather", 4, 9, 11),
        ("switch:3", "reduce-scatter", 3, 10, 11), ("switch:3", "broadcast", 2, 10, 11), ("switch:3", "reduce", 1, 10, 11),
        ("switch:4", "broadcast", 2, 12, 14), ("ring:4", "broadcast", 4, 10, 11), ("fattree:2x2", "broadcast", 1, 12, 13),
        ("tree:2x2", "broadcast", 2, 14, 15), ("tree:2x2", "all-gather", 4, 12, 17), ("fattree:2x2", "all-gather", 4, 12, 15),
        ("leafspine:2x1x2", "reduce", 1, 14, 15), ("mesh:2x2,without-link=0-1", "all-reduce", 1, 11, 13),
        ("mesh:2x2,without-link=0-1", "all-gather", 4, 9, 11),
        ("ace-torus:2x1x1", "all-reduce", 4, 7, 8), ("ace-alltoall:2x2", "all-reduce", 4, 10, 10),
    ],
)  # fmt: skip
def test_no_run_is_faster(spec: str, kind: str, granules: int, bound: int, fastest: int) -> None:
    of = of_instance(spec, kind, granules, QUICK)
    assert best_time(of, all_bounds(of)) == bound <= fastest
    assert not Runs(of, fastest - 1).exist()
    assert Runs(of, fastest).exist()


def test_all_splits() -> None:
    """A set of three has five splits."""
    assert sorted(map(sorted, partitions(0b111))) == [[1, 2, 4], [1, 6], [2, 5], [3, 4], [7]]
