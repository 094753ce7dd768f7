"""Random edits of programs: what the independent interpreter calls wrong is refused, and what it calls right is not."""

import random
import re

import pytest

from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.model.msccl import read_msccl, written_msccl
from certree.models.common.errors import InputError
from tests.extras.runtimes.check.edits import compare_on_edits
from tests.extras.runtimes.check.foreign import all_pairs, ring
from tests.extras.runtimes.interpreters.interpreter import faults
from tests.synth.execution import make

EDITS = 40  # of each program
NUMBERS = ("srcoff", "dstoff", "cnt", "depid", "deps", "hasdep", "send", "recv", "chan", "s_chunks", "nchannels")


def ours(network, method, collective="all-reduce"):
    return written_msccl(lower_to_program(make(method, network, collective))).decode()


PROGRAMS = {
    "ring": lambda: ring(4),
    "all-pairs": lambda: all_pairs(3),
    "ring:3 ring": lambda: ours("ring:3", "ring"),
    "hypercube:2 halving-doubling": lambda: ours("hypercube:2", "halving-doubling"),
    "mesh:2x2 multitree": lambda: ours("mesh:2x2", "multitree", "all-gather"),
}


def edited(text: str, draw: random.Random) -> str:
    """One number, type or buffer changed, or a step left out, doubled or exchanged with its neighbour."""
    lines = text.splitlines()
    steps = [at for at, line in enumerate(lines) if "<step " in line]
    what = draw.randrange(5)
    at = draw.choice(steps)
    if what == 0:
        follower = at + 1 if "<step " in lines[at + 1] else at - 1
        if "<step " in lines[follower]:
            lines[at], lines[follower] = lines[follower], lines[at]
    elif what == 1:
        lines[at] = "" if draw.random() < 0.5 else f"{lines[at]}\n{lines[at]}"
    elif what == 2:
        lines[at] = re.sub(r'type="\w+"', f'type="{draw.choice(["s", "r", "rrc", "rcs", "rrs", "cpy", "re", "nop"])}"', lines[at])
    elif what == 3:
        side = draw.choice(["src", "dst"])
        lines[at] = re.sub(rf'{side}buf="\w"', f'{side}buf="{draw.choice("ios")}"', lines[at])
    else:
        name = draw.choice(NUMBERS)
        having = [at for at, line in enumerate(lines) if f' {name}="' in line]
        at = draw.choice(having)
        lines[at] = re.sub(rf' {name}="(-?\d+)"', lambda old: f' {name}="{int(old[1]) + draw.choice([-1, 1, 2])}"', lines[at])
    number = 0
    for at, line in enumerate(lines):  # numbered again, so that the rest of the fault shows
        number = 0 if "<tb " in line else number
        pieces = []
        for piece in line.split("\n"):
            pieces.append(re.sub(r'<step s="\d+"', f'<step s="{number}"', piece))
            number += "<step " in piece
        lines[at] = "\n".join(pieces)
    return "\n".join(lines)


def accepted(text: str) -> bool:
    try:
        return verify_program(read_msccl(text.encode(), "x.xml")).valid
    except InputError:
        return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_another_interpreter_calls_wrong_is_refused(name: str) -> None:
    compare_on_edits(name, PROGRAMS[name](), edited, faults, accepted, EDITS)
