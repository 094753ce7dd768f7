"""Messages of several lengths in fine slots: valid, at the times of `FineTimes`, in the order that is asked for."""

from dataclasses import replace

import numpy as np
import pytest

from certree.models.demand import Demand
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.synth.flows.block_paths import balanced_paths
from certree.synth.flows.block_slots import moves_of
from certree.synth.flows.demand_schedule import cut
from certree.synth.flows.message_slots import Messages
from certree.synth.method import Request
from certree.verify.checker import verify_schedule
from tests.synth.flows.demands import drawn_request

NETWORKS = ["torus:4x4", "mesh:2x3", "dgx1", "dgx2", "fattree:2x3", "h100:2", "ring:5"]


def messages_of(request: Request, *, routed: bool = False, size: int = 1 << 30) -> Messages:
    """Blocks in chunks of up to `size` granules, along shortest paths."""
    topology, demand = request.topology, request.collective.demand
    assert demand is not None
    chunks = cut(demand, min(size, int(demand.columns[2].max())))
    paths = balanced_paths(topology, chunks[0].astype(np.int32), chunks[1].astype(np.int32), 0, 0, size=chunks[2])
    return Messages.of(request, chunks, moves_of(topology, paths, ~topology.forwards if routed else None))


def right(made: Schedule, end: int) -> bool:
    """Whether a schedule is valid and takes the cycles that its booking says."""
    return verify_schedule(made).valid and fine_times(made).cycles == end


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("sent", [300, 1 << 14, 1 << 20])
@pytest.mark.parametrize(("routed", "patient"), [(False, False), (False, True), (True, False), (True, True)])
def test_bookings_are_valid(spec: str, sent: int, routed: bool, patient: bool) -> None:
    messages = messages_of(drawn_request(spec, sent, sent), routed=routed, size=200)
    booked = messages.booked(-messages.rest, patient=patient, most_slots=1 << 12)
    assert booked.slot == 1 or messages.fullest // booked.slot <= 1 << 12
    assert right(booked.schedule("drawn", {}), booked.end)


@pytest.mark.parametrize("patient", [False, True])
def test_parallel_links(patient: bool) -> None:
    cables = Cables("parallel", 3)
    for capacity in (1, 2):
        cables.join(0, 1, capacity)
        cables.join(1, 2, capacity)
    made = _on(cables.build(), [(0, 2, 40), (0, 1, 30), (1, 2, 50), (2, 0, 7)], patient)
    assert made.routes
    assert {int(made.topology.pair_of_link[link]) for route in made.routes for link in route}


def _on(topology: Topology, blocks: list[tuple[int, int, int]], patient: bool) -> Schedule:
    from certree.models.demand import Demand
    from certree.models.machine.machine import load_machine
    from certree.models.schedule.collective import parse_collective

    machine, demand = load_machine("multitree"), Demand(tuple(blocks))
    request = Request(topology, parse_collective("alltoallv", demand=demand), demand.granules * 16, machine)
    messages = messages_of(request, size=5)
    booked = messages.booked(-messages.rest, patient=patient, most_slots=1 << 12)
    made = booked.schedule("drawn", {})
    assert right(made, booked.end)
    return made


def test_the_lowest_priority_goes_first() -> None:
    request = drawn_request("ring:3", 0, 1 << 12)
    messages = messages_of(request, size=16)
    for order in (np.arange(len(messages.rest)), -np.arange(len(messages.rest))):
        for patient in (False, True):
            booked = messages.booked(order, patient=patient, most_slots=1 << 20)
            for pair in range(len(request.topology.pair_src)):  # a ring of 3: every block has one hop
                rows = np.flatnonzero(messages.moves.pair == pair)
                assert (np.diff(booked.fire[rows[np.argsort(order[rows])]]) > 0).all()


def test_rest() -> None:
    messages = messages_of(drawn_request("mesh:1x4", 0, 1 << 12))
    for row in range(len(messages.rest)):
        on = [row]
        while not messages.moves.is_last[on[-1]]:
            on.append(on[-1] + 1)
        assert messages.rest[row] == messages.flight[on].sum()


def test_squeezed_is_never_later() -> None:
    sooner = 0
    for seed in range(6):
        messages = messages_of(drawn_request("h100:2", seed, 1 << 14, hot=False), size=64)
        first = messages.booked(messages.rest, patient=True, most_slots=1 << 20)
        best = messages.squeezed(first, 8, 1 << 20)
        assert right(best.schedule("drawn", {}), best.end)
        assert best.end <= first.end
        sooner += best.end < first.end
        assert messages.squeezed(first, 8, 1 << 20, enough=first.end).end == first.end
    assert sooner >= 3


def test_messages_that_take_no_time_hurry_by_their_rest() -> None:
    """A flit without a header over wide links without latency: no link has a load."""
    topology = parse_topology("full:3,capacity=8")
    nothing = replace(load_machine("multitree"), link_latency_cycles=0, router_cycles=0, ni_cycles=0, head_flits=0)
    collective = parse_collective("alltoallv", demand=Demand(((0, 1, 1), (1, 2, 1))))
    messages = messages_of(Request(topology, collective, 2 * nothing.flit_bytes, nothing))
    assert messages.fullest == 0
    assert messages.pressing.tolist() == messages.rest.tolist()
