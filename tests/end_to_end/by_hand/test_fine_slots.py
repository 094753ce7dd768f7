"""Swing on a torus and the one-shot all-reduce on a switch, written by hand in fine slots of one cycle: verified, and timed.

Each message leaves in the first cycle in which what it carries is there and every link of its route has a lane free for it.
"""

from dataclasses import replace

import numpy as np
import pytest

from certree.api import simulate
from certree.models.machine.machine import load_machine
from certree.models.network.dimension_order import DimensionOrder
from certree.models.network.routing import DIRECT, routes_between
from certree.models.network.spec import parse_topology
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_file import save_schedule
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.verify.checker import verify_schedule
from tests.cli.running import json_of
from tests.end_to_end.by_hand.test_swing import peer, route, swing
from tests.verify.build import COPY, REDUCE, build

MACHINE = load_machine("multitree")
HOP = MACHINE.link_latency_cycles + MACHINE.router_cycles


class Lanes:
    """The cycles in which the lanes of links are taken, for links of capacity 1."""

    def __init__(self, ser):
        self.ser, self.entered = ser, {}

    def first(self, ready, routes):
        """The first cycle from `ready` on in which messages can leave along all of these routes; they have it then."""
        fire = ready
        while (wait := max(self._wait(fire, links) for links in routes)) > 0:
            fire += wait
        for links in routes:
            for hop, link in enumerate(links):
                self.entered.setdefault(link, []).append(fire + hop * HOP)
        return fire

    def _wait(self, fire, links):
        waits = [0]
        for hop, link in enumerate(links):
            entry = fire + hop * HOP
            waits += [other + self.ser - entry for other in self.entered.get(link, []) if abs(other - entry) < self.ser]
        return max(waits)


def latency(hops):
    """Cycles from the firing to the ejection of the head."""
    return MACHINE.interface_cycles + MACHINE.router_cycles + hops * HOP


def swing_in_fine_slots(side, size):
    """Swing of one chunk: the pairs of a stage exchange all they have, each as soon as both have the sum of the stage before."""
    topology = parse_topology(f"torus:{side}x{side}")
    router, ser, red = DimensionOrder(topology), serialization_cycles(size, MACHINE), reduction_cycles(size, MACHINE)
    lanes, ready, rows, paths = Lanes(ser), [0] * side * side, [], []
    for stage in range(2 * (side.bit_length() - 1)):
        pairs = sorted(
            (ready[node], node, peer(node, side, stage)) for node in range(side * side) if node < peer(node, side, stage)
        )
        for _, node, other in pairs:
            there, back = route(topology, router, node, other), route(topology, router, other, node)
            fire = lanes.first(max(ready[node], ready[other]), [there, back])
            for source, target, links in ((node, other, there), (other, node, back)):
                rows.append((0, REDUCE, fire, source, target))
                paths.append(links if len(links) > 1 else ())
                ready[target] = fire + latency(len(links)) + ser + MACHINE.reduce_start_cycles + red
    routes = tuple(dict.fromkeys(filter(None, paths)))
    column = [routes.index(links) if links else DIRECT for links in paths]
    return build(topology, "all-reduce", rows, route=column, routes=routes, slot_cycles=1, made_for=MadeFor(size, MACHINE))


def one_shot(nodes, size):
    """Everyone sends its contribution to everyone: first from the data buffer, then from a copy in a scratch buffer."""
    topology, ser = parse_topology(f"switch:{nodes}"), serialization_cycles(size, MACHINE)
    rows = [(0, COPY, 0, node, node) for node in range(nodes)]
    for shift in range(1, nodes):
        rows += [(0, REDUCE, (shift - 1) * ser, node, (node + shift) % nodes) for node in range(nodes)]
    src, dst = (np.array([row[place] for row in rows[nodes:]]) for place in (3, 4))
    column, routes = routes_between(topology, src, dst)
    buffers = {"src_buffer": [0] * 2 * nodes + [1] * (len(rows) - 2 * nodes), "dst_buffer": [1] * nodes + [0] * (len(rows) - nodes)}
    return build(
        topology, "all-reduce", rows, route=[DIRECT] * nodes + column.tolist(), routes=routes, buffers=2, slot_cycles=1,
        made_for=MadeFor(size, MACHINE), **buffers,
    )  # fmt: skip


@pytest.mark.parametrize(("size", "cycles", "in_slots"), [(256, 1764, 3984), (1024, 2052, 4368), (4096, 3300, 6032)])
def test_swing(tmp_path, size, cycles, in_slots):
    """Valid, and faster than the same exchanges in slots as long as a message and its latency (docs/explanation/slots.md)."""
    save_schedule(swing_in_fine_slots(8, size), tmp_path / "fine.json")
    seen = json_of("verify", tmp_path / "fine.json")
    (tmp_path / "swing.csv").write_text(swing(8)[0])
    asked = ("--topology", "torus:8x8", "--collective", "all-reduce", "--route", "dimension-order", "--size", str(size))
    slotted = json_of("verify", tmp_path / "swing.csv", *asked)
    assert (seen["valid"], seen["transfers"]) == (True, slotted["transfers"])
    assert (seen["time_cycles"], slotted["time_cycles"]) == (cycles, in_slots)


@pytest.mark.parametrize(("made", "bits"), [(swing_in_fine_slots(8, 1024), 40), (one_shot(8, 1024), 39)])
def test_tables_and_runs(tmp_path, made, bits):
    """Exported, verified from the files, and simulated by each engine in the cycles of the closed form."""
    save_schedule(made, tmp_path / "fine.json")
    exported = json_of("export", tmp_path / "fine.json", "-o", tmp_path / "tables")
    cycles = json_of("verify", tmp_path / "tables")["time_cycles"]
    assert (exported["slot_cycles"], exported["row_bits"]) == (1, bits)
    for engine in ("fast", "lanes", "flit"):
        seen = simulate(tmp_path / "tables", engine=engine, without_routers=engine != "flit")
        assert (seen.cycles, seen.closed_form_cycles, seen.late, seen.contention_cycles) == (cycles, cycles, 0, 0)
        assert seen.data_ok


@pytest.mark.parametrize("size", [256, 1024, 4096])
def test_one_shot(tmp_path, size):
    """Seven messages leave each endpoint back to back; the last is added when it has come."""
    made = one_shot(8, size)
    save_schedule(made, tmp_path / "fine.json")
    seen = json_of("verify", tmp_path / "fine.json")
    ser, red = serialization_cycles(size, MACHINE), reduction_cycles(size, MACHINE)
    assert (seen["valid"], seen["transfers"]) == (True, 8 + 7 * 8)
    assert seen["time_cycles"] == MACHINE.ni_start_cycles + 7 * ser + latency(2) + MACHINE.reduce_start_cycles + red


@pytest.mark.parametrize("earlier", [1, 64])
def test_an_earlier_cycle_is_wrong(earlier):
    """The last messages of Swing may not leave earlier: what they carry has not landed."""
    made = swing_in_fine_slots(4, 1024)
    step = made.step.copy()
    step[-2:] -= earlier
    assert set(verify_schedule(replace(made, step=step)).counts) & {"in-flight", "reserved"}
