"""Fused steps of programs: which there are, and that nothing waits for ever."""

import pytest

from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.model.msccl import written_msccl
from tests.extras.runtimes.interpreters.interpreter import faults
from tests.synth.execution import make


def kinds_of(program):
    return [[str(step.type) for block in rank.blocks for step in block.steps] for rank in program.ranks]


def test_fused_steps():
    """A ring in one thread block of each rank, which stores no partial sum but the last."""
    program = lower_to_program(make("ring", "ring:4"))
    assert kinds_of(program) == [["s", "rrs", "rrs", "cpy", "rrcs", "rcs", "rcs", "r"]] * 4
    assert {(block.send - rank, block.receive - rank) for rank, own in enumerate(program.ranks) for block in own.blocks} == {
        (1, -1), (1, 3), (-3, -1),
    }  # fmt: skip
    assert kinds_of(lower_to_program(make("ring", "ring:4", "all-gather"))) == [["cpy", "s", "rcs", "rcs", "r"]] * 4
    assert kinds_of(lower_to_program(make("ring", "ring:4", "reduce-scatter"))) == [["s", "rrs", "rrs", "cpy", "rrc"]] * 4


@pytest.mark.parametrize(
    ("options", "is_fused"),
    [
        ({"delay": "2"}, False),
        ({"channels": "4"}, False),
        ({"bidirectional": "true"}, True),
        ({"delay": "3", "channels": "2"}, False),
    ],
)
def test_room_for_what_is_sent(options, is_fused):
    """A fused step sends before the other rank has received: with several messages on their way nothing is fused, or all would
    wait for room."""
    program = lower_to_program(make("ring", "ring:4", options=options))
    assert verify_program(program).valid
    assert not faults(written_msccl(program).decode())
    assert ("rcs" in {kind for kinds in kinds_of(program) for kind in kinds}) == is_fused


def test_what_is_needed_later_is_stored():
    """Partial sums that only pass a rank are not stored; those that are sent twice, or are a result, are."""
    program = lower_to_program(make("binomial", "ring:8", "reduce", root=0))
    assert verify_program(program).valid
    assert {"rrs", "rrc"} <= {kind for kinds in kinds_of(program) for kind in kinds}
    several = lower_to_program(make("double-binary-tree", "switch:6"))
    assert verify_program(several).valid
    assert not faults(written_msccl(several).decode())
