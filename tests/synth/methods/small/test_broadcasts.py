"""Broadcasts in shares and along chains, and reduces: valid on any network, and as fast as counted."""

from dataclasses import replace

import numpy as np
import pytest

import certree.api as ct
from certree.models.fine.slots import fine_times
from certree.models.schedule.timing import serialization_cycles
from certree.synth.ranks.layout import layout_of
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask, make, valid

NETWORKS = ["ring:5", "mesh:3x3", "torus:3x4", "dgx1", "switch:5", "fattree:2x3", "tree:3+4", "mesh:3x3,without-link=0-1"]
METHODS = ["scatter-all-gather", "chain"]
ONE = {"options": {"pieces": "1"}}


def cycles(method, network, size, **options):
    return fine_times(valid(method, network, "broadcast", message_bytes=size, root=1, options=options)).cycles


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("method", METHODS)
def test_it_is_valid(method, network):
    for collective in ("broadcast", "reduce"):
        made = valid(method, network, collective, message_bytes=3000, root=2, **ONE)
        assert made.slot_cycles == 1


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_every_share_takes_two_messages_to_everyone(collective):
    """6 endpoints, 2 pieces for each of 5 relays and 3 for the groups of 3: everyone else gets each piece once."""
    made = make("scatter-all-gather", "fattree:2x3", collective, root=5, options={"pieces": "2", "grouped": "3"})
    assert (made.chunks, made.transfers) == (13, 13 * 5)
    away = made.src if collective == "broadcast" else made.dst
    at_root = np.bincount(made.chunk[away == 5])
    assert at_root.tolist() == [1] * 10 + [2] * 3


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("network", ["mesh:2x4", "fattree:2x3", "torus:2x2x3"])
def test_pieces_cross_to_the_other_groups_once(network, collective):
    """Between groups there is one message of each piece for each group but the root's."""
    made = valid("scatter-all-gather", network, collective, root=2, options={"pieces": "0", "crossing": "2"})
    size = layout_of(made.topology, None).sizes[0]
    group = np.arange(len(made.topology.endpoints)) // size
    crossing = group[made.src] != group[made.dst]
    assert made.chunks == 2 * size
    assert (np.bincount(made.chunk[crossing]) == group.max()).all()
    assert made.transfers == made.chunks * (len(group) - 1)


def _on_switch():
    """Bytes, cycles of 1 KiB on a lane, and cycles from endpoint to endpoint through one switch, from the start of a run on."""
    machine = ask("switch:3").machine
    route = machine.interface_cycles + 3 * machine.router_cycles + 2 * machine.link_latency_cycles
    return machine.ni_start_cycles, serialization_cycles(1024, machine), route


def test_two_shares_on_a_switch_take_what_their_messages_take():
    """The second of two shares leaves after the first, and its relay passes it on when it has come."""
    start, ser, route = _on_switch()
    assert cycles("scatter-all-gather", "switch:3", 2048, pieces="1") == start + 2 * ser + route + ser + route


@pytest.mark.parametrize("pieces", [1, 4])
def test_a_chain_takes_what_its_messages_take(pieces):
    start, ser, route = _on_switch()
    assert cycles("chain", "switch:6", 1024 * pieces, pieces=str(pieces)) == start + 5 * (route + ser) + (pieces - 1) * ser


def test_a_chain_passes_neighbours_first():
    made = make("chain", "fattree:2x3", "broadcast", root=4, options={"pieces": "1"})
    assert list(zip(made.src.tolist(), made.dst.tolist(), strict=True)) == [(4, 5), (5, 3), (3, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize(("network", "size", "options", "most"), [
    ("fattree:4x4", 1000, {"pieces": "0", "grouped": "8"}, 1171), ("fattree:4x4", 16384, {}, 2444), ("dgx2", 16384, {}, 1081),
])  # fmt: skip
def test_shares_pay_behind_switches(network, size, options, most):
    """At most the cycles that auto had when they were measured."""
    assert cycles("scatter-all-gather", network, size, **options) <= most


@pytest.mark.parametrize(("method", "network", "size"), [
    ("scatter-all-gather", "switch:6", "16KiB"), ("chain", "fattree:2x2", "256KiB"),
])  # fmt: skip
def test_auto_takes_them(method, network, size):
    made = ct.synthesize(network, "broadcast", root=1, size=size)
    assert made.provenance["method"] == method


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_tables(method, collective, tmp_path):
    made = ct.synthesize("fattree:2x3", collective, root=4, method=method, size="4KiB")
    run = ct.simulate(ct.export(made, "json", tmp_path / "tables"))
    assert (run.cycles, run.contention_cycles, run.late, run.data_ok) == (fine_times(made).cycles, 0, 0, True)


@pytest.mark.parametrize("method", METHODS)
def test_among_some(method):
    among = ct.collective("broadcast", members=(0, 4, 5), root=4)
    made = ct.synthesize("fattree:2x3", among, method=method, size="1KiB")
    assert ct.verify(made).valid
    assert set(made.src.tolist()) | set(made.dst.tolist()) == {0, 4, 5}


@pytest.mark.parametrize("method", METHODS)
def test_a_relay_that_sends_too_early_or_not_at_all_is_found(method):
    """One cycle before its piece has come, or never: then the others miss the piece."""
    made = valid(method, "switch:4", "broadcast", message_bytes=3000, root=0)
    relayed = np.flatnonzero(made.src != 0)
    first = relayed[np.argmin(made.step[relayed])]
    early = made.step.copy()
    early[first] -= 1
    assert "in-flight" in {one.rule for one in verify_schedule(replace(made, step=early)).violations}
    kept = np.flatnonzero((made.chunk != made.chunk[first]) | (made.src == 0))
    short = replace(made, **{name: getattr(made, name)[kept] for name in ("chunk", "op", "step", "src", "dst", "route")})
    assert {one.rule for one in verify_schedule(short).violations} == {"missing"}
