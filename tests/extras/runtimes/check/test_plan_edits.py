"""Random edits of plans: whatever the independent interpreter calls wrong is refused, and what it calls right is not."""

import json
import random

import pytest

from certree.extras.runtimes.check.plan_checker import verify_plan
from certree.extras.runtimes.make.plans import lower_to_plan
from certree.extras.runtimes.model.plan_file import plan_of
from certree.extras.runtimes.model.plan_writer import written_plan
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from tests.extras.runtimes.check.edits import compare_on_edits
from tests.extras.runtimes.check.test_plan_rules import plan
from tests.extras.runtimes.interpreters.plan_interpreter import faults
from tests.synth.execution import make

EDITS = 50  # of each plan
NUMBERS = (
    "index",
    "size",
    "buffer_id",
    "switch_channel_id",
    "channel_ids",
    "connected_to",
    "remote_buffer_ids",
    "rank",
    "scratch_chunks",
)


def ours(network, method, collective="all-reduce"):
    return written_plan(lower_to_plan(written_out(make(method, network, collective)))).decode()


PLANS = {
    "exchange": lambda: json.dumps(plan()),
    "ring:3 ring": lambda: ours("ring:3", "ring"),
    "hypercube:2 halving-doubling": lambda: ours("hypercube:2", "halving-doubling"),
    "switch:3 netreduce": lambda: ours("switch:3,reducing=switches", "netreduce"),
    "mesh:2x2 multitree": lambda: ours("mesh:2x2", "multitree", "all-gather"),
}


def edited(text: str, draw: random.Random) -> str:
    """A number, name or buffer changed, or an operation left out, doubled or exchanged with its neighbour."""
    document = json.loads(text)
    block = draw.choice([block for gpu in document["gpus"] for block in gpu["threadblocks"] if block["ops"]])
    ops = block["ops"]
    at = draw.randrange(len(ops))
    what = draw.randrange(5)
    if what == 0:
        other = at + 1 if at + 1 < len(ops) else at - 1
        ops[at], ops[other] = ops[other], ops[at]
    elif what == 1:
        ops[at : at + 1] = [] if draw.random() < 0.5 else [ops[at], ops[at]]
    elif what == 2:
        ops[at]["name"] = draw.choice(["put", "copy", "re", "rre", "res", "signal", "wait", "nop"])
    elif what == 3:
        spans = [span for op in ops for side in ("src_buff", "dst_buff") for span in op.get(side, ()) if "type" in span]
        if spans:
            draw.choice(spans)["type"] = draw.choice("ios")
    else:
        numbers: list[tuple] = []
        collect(document, numbers)
        table, key = draw.choice(numbers)
        table[key] += draw.choice([-1, 1])
    return json.dumps(document)


def collect(value, found, name=""):
    """(table or list, key) of every number that an edit may change."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        label = key if isinstance(value, dict) else name
        if isinstance(inner, dict | list):
            collect(inner, found, label)
        elif label in NUMBERS and type(inner) is int:
            found.append((value, key))


def accepted(text: str) -> bool:
    try:
        return verify_plan(plan_of(json.loads(text), "x.json")).valid
    except (InputError, UnsupportedError):
        return False


@pytest.mark.parametrize("name", PLANS)
def test_what_another_interpreter_calls_wrong_is_refused(name: str) -> None:
    compare_on_edits(name, PLANS[name](), edited, faults, accepted, EDITS)
