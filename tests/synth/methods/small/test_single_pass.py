"""Blocks that leave as soon as links are free: valid, at the bound where messages are short, and on routes free of deadlock."""

import pytest

import certree.api as ct
from certree.models.fine.slots import fine_times
from certree.models.schedule.timing import serialization_cycles
from tests.synth.execution import ask, make, valid

NETWORKS = ["ring:5", "mesh:3x3", "torus:3x4", "dgx1", "dgx2:1", "switch:5", "fattree:2x3", "torus:3x3,without-link=0-1"]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("transport", ["routed", "stored"])
def test_it_is_valid(network, transport):
    for collective, root in (("all-to-all", None), ("gather", 3), ("scatter", 0)):
        made = valid("single-pass", network, collective, message_bytes=3000, root=root, options={"transport": transport})
        assert made.slot_cycles == 1


def test_the_farthest_block_decides():
    """Torus 4x4, 256 bytes: a granule to a node four hops away, which no link makes wait."""
    made = valid("single-pass", "torus:4x4", "scatter", message_bytes=256, root=0)
    machine = ask("torus:4x4").machine
    route = machine.interface_cycles + 5 * machine.router_cycles + 4 * machine.link_latency_cycles
    assert fine_times(made).cycles == machine.ni_start_cycles + route + serialization_cycles(16, machine)


def test_stored_and_routed():
    """Routed, each block is one transfer; stored, one for each hop: 240 pairs of nodes, 2.13 hops apart on average."""
    routed, stored = (
        make("single-pass", "torus:4x4", "all-to-all", message_bytes=256, options={"transport": transport})
        for transport in ("routed", "stored")
    )
    assert (routed.transfers, stored.transfers) == (240, 512)
    assert all(len(route) > 1 for route in routed.routes)
    assert not stored.routes


@pytest.mark.parametrize(("network", "size", "least"), [("torus:4x4", "1KiB", 1.01), ("fattree:2x4", "1KiB", 1.05)])
def test_auto_takes_it_near_the_bound(network, size, least):
    made = ct.synthesize(network, "all-to-all", size=size)
    assert made.provenance["method"] == "single-pass"
    cycles, bound = fine_times(made).cycles, ct.verify(made).quality.time[1]
    assert bound <= cycles <= least * bound


@pytest.mark.parametrize("collective", ["all-to-all", "gather"])
def test_tables(collective, tmp_path):
    made = ct.synthesize("mesh:3x3", collective, root=None if collective == "all-to-all" else 4, method="single-pass", size="4KiB")
    run = ct.simulate(ct.export(made, "json", tmp_path / "tables"))
    assert (run.cycles, run.contention_cycles, run.late, run.data_ok) == (fine_times(made).cycles, 0, 0, True)


def test_among_some():
    among = ct.collective("all-to-all", members=(0, 4, 5))
    made = ct.synthesize("torus:3x3", among, method="single-pass", size="1KiB")
    assert set(made.chunk_root.tolist()) == {0, 4, 5}
    assert ct.verify(made).valid
