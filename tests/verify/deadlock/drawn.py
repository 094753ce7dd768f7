"""Random networks of switches: what synthesis makes runs through routers without deadlock, and circles made on purpose are refused.

`python -m tests.verify.deadlock.drawn FIRST COUNT` draws COUNT networks, with seeds from FIRST on, and prints how many of each
kind there were.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np

from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import Machine
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.topology import Topology
from certree.models.routers.virtual_channels import layer_count
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.deadlock_verdicts import verdict_on_machine
from certree.verify.deadlock.freedom import deadlock_of_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.verify.deadlock.routers import direct, small

MOST_SWITCHES = 64
FLITS = 12  # of a message, more than buffers hold


@dataclass(frozen=True)
class Cabling:
    """Switches 0 to `switches` - 1, the `cables` between them, and the switch at which each endpoint has its `homes`."""

    switches: int
    homes: tuple[int, ...]
    cables: tuple[tuple[int, int], ...]

    def topology(self) -> Topology:
        """The network; endpoints come first."""
        ends = len(self.homes)
        found = Cables(f"drawn-{self.switches}", ends, self.switches)
        for endpoint, switch in enumerate(self.homes):
            found.join(endpoint, ends + switch)
        for a, b in self.cables:
            found.join(ends + a, ends + b)
        return found.build()

    @property
    def is_connected(self) -> bool:
        """Whether cables join all switches."""
        graph = nx.Graph(self.cables)
        graph.add_nodes_from(range(self.switches))
        return nx.is_connected(graph)

    def is_leaf(self, switch: int) -> bool:
        """Whether a switch has one cable and no endpoint."""
        return switch not in self.homes and sum(switch in cable for cable in self.cables) == 1

    def without(self, switch: int) -> "Cabling":
        """The cabling without one switch and its cables; later ones are numbered anew."""
        cables = tuple((a - (a > switch), b - (b > switch)) for a, b in self.cables if switch not in (a, b))
        return Cabling(self.switches - 1, tuple(home - (home > switch) for home in self.homes), cables)


def drawn_cabling(rng: Random) -> Cabling:
    """4 to 64 connected switches with 2 to 6 cables each on average, an endpoint at each, or at some two or none."""
    switches = rng.choice((rng.randint(4, 10), rng.randint(4, 24), rng.randint(4, MOST_SWITCHES)))
    graph = nx.random_labeled_tree(switches, seed=rng.randrange(1 << 30))
    for _ in range(int(switches * rng.uniform(0, 2))):
        graph.add_edge(*rng.sample(range(switches), 2))
    homes = [switch for switch in range(switches) if rng.random() < 0.9] or [0]
    homes += [switch for switch in homes if rng.random() < 0.1] + [0] * (len(homes) < 2)
    return Cabling(switches, tuple(homes[:MOST_SWITCHES]), tuple(sorted(graph.edges)))


def drawn_network(rng: Random) -> Topology:
    """The network of `drawn_cabling`."""
    return drawn_cabling(rng).topology()


def drawn_machine(rng: Random) -> Machine:
    """Wormhole or cut-through routers with 1 to 8 virtual channels of a few flits, which take few cycles."""
    flow_control = rng.choice(("wormhole", "cut-through"))
    flits = rng.randint(1, 8) if flow_control == "wormhole" else rng.randint(4, 8)
    return replace(
        small(rng.choice((1, 2, 8, 8)), flits, flow_control=flow_control, sub_message_flits=4),
        link_latency_cycles=rng.randint(1, 4),
    )


def check_network(seed: int) -> Counter[str]:
    """Draw a network, and check what synthesis makes for it and what it must not make; counts of what was checked."""
    rng = Random(seed)
    topology, machine = drawn_network(rng), drawn_machine(rng)
    collective = rng.choice(("all-gather", "all-to-all", "all-reduce"))
    ends = len(topology.endpoints)
    size = (FLITS - 1) * machine.flit_bytes * ends
    schedule = direct(topology, machine, size, collective)
    answer = deadlock_of_schedule(schedule, machine, size)
    assert answer.free, f"seed {seed}: {answer.explanation()}"
    assert answer.fault() is None
    found = Counter({"networks": 1, f"networks with {layer_count(schedule.virtual_channel)} layers": 1})
    found["networks with up*/down* routes"] += "up_down_routes" in schedule.provenance
    assert answer.virtual_channels == layer_count(schedule.virtual_channel)
    assert verdict_on_machine(schedule, verify_schedule(schedule), machine, size).valid
    whole = collective == "all-to-all"  # without tables
    for mode in ("slotted",) if whole else ("slotted", "paced"):
        tables = SimulatedSchedule.of(schedule, size, machine) if whole else lower(schedule, size, machine)
        assert isinstance(tables, SimulatedSchedule) or verify_tables(tables).valid
        ended = run(tables, Options(engine="flit", mode=mode))
        assert not ended.deadlock, f"seed {seed}, {mode}: {ended.deadlock}"
        assert ended.data_ok
        found["runs through routers"] += 1
    for stuck in circles(schedule):
        refused = deadlock_of_schedule(stuck, machine, size)
        assert not refused.free, f"seed {seed}: a circle of waits is not refused"
        for wait, after in pairwise([*refused.cycle, refused.cycle[0]]):
            assert wait.wants == after.holds
        found["circles refused"] += 1
    return found


def circles(schedule: Schedule) -> Iterator[Schedule]:
    """The schedule in one layer, where it needs several; and with routes that lead around a circle of switches that has
    endpoints."""
    if schedule.virtual_channel is not None:
        yield replace(schedule, virtual_channel=None)
    topology = schedule.topology
    link = {ends: number for number, ends in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))}
    home = {int(topology.dst[number]): int(topology.src[number]) for number in np.flatnonzero(topology.rank[topology.src] >= 0)}
    graph = nx.Graph([ends for ends in link if topology.rank[ends[0]] < 0 and topology.rank[ends[1]] < 0])
    for circle in nx.cycle_basis(graph):
        if all(switch in home for switch in circle):
            around = [circle[index:] + circle[:index] for index in range(len(circle))]
            turns = {(home[turn[0]], home[turn[2]]): turn[:3] for turn in around}
            led = tuple(_led(schedule, link, turns, index) for index in range(len(schedule.routes)))
            yield replace(schedule, routes=led, virtual_channel=None)
            return


def _led(
    schedule: Schedule, link: dict[tuple[int, int], int], turns: dict[tuple[int, int], list[int]], index: int
) -> tuple[int, ...]:
    """A route, led around the circle where its ends are on it."""
    route, topology = schedule.routes[index], schedule.topology
    start, end = int(topology.src[route[0]]), int(topology.dst[route[-1]])
    if (start, end) not in turns:
        return route
    return tuple(link[pair] for pair in pairwise([start, *turns[start, end], end]))


if __name__ == "__main__":
    begin, total = time.monotonic(), Counter[str]()
    first, count = map(int, sys.argv[1:3])
    for number in range(first, first + count):
        total += check_network(number)
    lines = [f"{found:>7,} {name}" for name, found in sorted(total.items())]
    sys.stdout.write("\n".join([*lines, f"{time.monotonic() - begin:.0f} s\n"]))
