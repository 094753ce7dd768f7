"""Trees through switches: as many as the bound allows, on paths that exist, within what links carry."""

import pytest

from tests.synth.execution import ask, certified, make, valid


@pytest.mark.parametrize("spec", ["dgx2", "ace-alltoall:4x4", "switch-fc:2x2x4x2"])
def test_a_schedule_at_the_bound_through_switches(spec: str) -> None:
    made = make("packing", spec, message_bytes=64 << 20, options={"rate": "optimal"})
    assert certified(made).optimal_in == ("bandwidth",)


def test_trees_through_switches_are_retimed() -> None:
    request = ask("bigraph:2x4", message_bytes=1 << 15)
    better = valid("retime", "bigraph:2x4", message_bytes=1 << 15)
    assert request.cycles(better) < request.cycles(make("multitree", "bigraph:2x4"))
