"""Paced runs as fine slots: the same transfers, no later than in slots."""

import pytest

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
