"""Paced runs as fine slots: the same transfers, no later than in slots."""

import pytest

from certree.hw.engines.runs import Options as RunOptions
from certree.hw.run import run
from certree.synth.fine.paced import best_paced
from certree.synth.method import load_methods
from tests.synth.execution import ask, make, valid


@pytest.mark.parametrize(("network", "of"), [
    ("torus:3x4", "multitree"), ("fattree:2x4", "recursive-doubling"), ("mesh:3x3", "packing"), ("ring:5", "ring"),
])  # fmt: skip
@pytest.mark.parametrize("size", [1000, 65537])
def test_it_is_faster_than_slots(network, of, size):
    made = valid("retime", network, message_bytes=size, options={"of": of, "from": "paced"})
    source = make(of, network, message_bytes=size)
    if (network, size) != ("mesh:3x3", 65537):  # where the slots of the packing are the faster ones
        assert made.slot_cycles == 1
        assert made.transfers == source.transfers * source.repeats
    asked = ask(network, message_bytes=size)
    assert asked.cycles(made) <= asked.cycles(source)


@pytest.mark.parametrize(("network", "size", "before", "paced"), [
    ("ace-torus:4x2x2", 65_537, 4011, 4006), ("ace-alltoall:4x2", 1 << 20, 58_169, 57_145),
])  # fmt: skip
def test_sums_that_come_one_after_the_other_are_not_later(network, size, before, paced):
    """Each of the sums that come to a node in one cycle counts as the last; where none do, the tables are faster than the paced
    run."""
    made = valid("retime", network, message_bytes=size, options={"of": "halving-doubling", "from": "paced"})
    assert ask(network, message_bytes=size).cycles(made) < paced < before


def test_many_transfers_take_no_longer_than_their_paced_run():
    """64,512 transfers, too many for local searches: the order of the rows, the longest rest first and a few more are enough."""
    request = ask("torus:8x8,without-link=0-1", message_bytes=1 << 20)
    packed = load_methods()["packing"](request)
    by_themselves = run(packed, RunOptions(mode="paced", without_routers=True)).cycles
    assert by_themselves < request.cycles(packed)
    made = best_paced(request, [("packing", packed)], request.cycles(packed))
    assert made is not None
    assert request.cycles(made) <= by_themselves
