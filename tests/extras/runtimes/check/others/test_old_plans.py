"""Plans of MSCCL++ as of 2024: channels name the buffers that they join, and operations have other names."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

import certree.api as ct
from certree.extras.runtimes.check.plan_checker import verify_plan
from certree.extras.runtimes.model.plan import OpName
from certree.extras.runtimes.model.plan_file import plan_of
from certree.models.common.errors import InputError

EDITS = 200
Document = dict[str, Any]
BUFFERS = {"src": "i", "dst": "i"}


def near(offset: int) -> Document:
    return {"src": offset, "srcbuff": "i", "srcoff": offset, "dst": offset, "dstbuff": "i", "dstoff": offset, "cnt": 1}


def far(side: str, offset: int = 0) -> Document:
    return {f"{side}_buff": BUFFERS, f"{side}_cids": [{"id": 0, "off": offset}], "ctype": "sm"}


def plan(edit: Callable[[list[Document]], object] = lambda ops: None) -> Document:
    """An all-reduce of two ranks and two chunks: each reads one chunk of the other, adds its own, and writes the sum back."""
    gpus = []
    for rank in (0, 1):
        signal, wait = {"name": "signal", **far("o"), "cnt": 1}, {"name": "wait", **far("i"), "cnt": 1}
        sums = {"name": "rrcs", **far("i", rank), **far("o", rank), **near(rank)}
        ops = [signal, wait, {"name": "nop", "deps": [{"tb": 0, "step": 1}]}, sums, {"name": "nop"}, dict(signal), dict(wait)]
        edit(ops)
        channels = [{"srcbuff": "i", "dstbuff": "i", "type": "sm", "connectedTo": [1 - rank]}]
        block = {"id": 0, "ops": ops, "channels": [{**BUFFERS, "ctype": "sm", "cids": [0]}]}
        sizes = {"inputChunks": 2, "outputChunks": 0, "scratchChunks": 0, "chunkGroups": 1}
        gpus.append({"id": rank, **sizes, "threadblocks": [block], "channels": channels})
    return {"name": "pairs", "colletive": "allreduce", "protocol": "Simple", "inplace": True, "gpus": gpus}


def counts(document: Document, executor: str | None = None) -> set[str]:
    return set(verify_plan(plan_of(document, "x"), None, executor).verdict.counts)


def test_a_right_one(tmp_path: Path) -> None:
    assert counts(plan()) == set()
    assert counts(plan(), "mscclpp-0.9") == {"limit"}
    (tmp_path / "plan.json").write_text(json.dumps(plan()))
    made = ct.import_program(tmp_path / "plan.json", "ring:2")
    assert (ct.verify(made).valid, len(made.chunk)) == (True, 4)


def test_names() -> None:
    """Names that mean something else in plans of today: rrcs, cpkt."""
    operations = plan_of(plan(), "x").ranks[0].blocks[0]
    assert [one.name for one in operations][2:4] == [OpName.NOTHING, OpName.READ_REDUCE_SEND]
    assert [(span.rank, span.offset) for span in (*operations[3].src, *operations[3].dst)] == [(0, 0), (1, 0), (0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (lambda ops: ops.__delitem__(slice(4, 7)), {"left-early"}),
        (lambda ops: ops.__delitem__(2), {"not-started"}),
        (lambda ops: ops[3].update(name="rrc"), {"wrong-data"}),
        (lambda ops: ops.pop(), {"unmatched"}),
        (lambda ops: ops.insert(0, ops.pop(1)), {"deadlock-in-program"}),
    ],
)
def test_faults(edit: Callable[[list[Document]], object], rules: set[str]) -> None:
    assert rules <= counts(plan(edit))


def packets(scratch: int = 2) -> Document:
    """An all-reduce of two ranks and one chunk in packets, which need no signals: calls in turn use two halves of scratch."""
    document, put, add = plan(), {"name": "ppkt", "srcs": [{"buff": "i", "off": 0}]}, {"name": "rpkt", **near(0)}
    to = {"o_buff": {"src": "i", "dst": "s"}, "o_cids": [{"id": 0, "off": 0}], "ctype": "sm", "cnt": 1}
    for rank, gpu in enumerate(document["gpus"]):
        gpu |= {
            "inputChunks": 1,
            "scratchChunks": scratch,
            "channels": [{"srcbuff": "i", "dstbuff": "s", "type": "sm", "connectedTo": [1 - rank]}],
        }
        block = {
            "channels": [{"src": "i", "dst": "s", "ctype": "sm", "cids": [0]}],
            "ops": [put | to, {"name": "nop"}, add | {"srcs": [{"buff": "s", "off": 0}]}],
        }
        gpu["threadblocks"][0] |= block
    return document


def switched(wait_at_end: bool) -> Document:
    """An all-reduce in which each rank lets the switch add up one chunk and store it at both ranks."""
    document = plan()
    for rank, gpu in enumerate(document["gpus"]):
        gpu["channels"].insert(0, {"buff": "i", "type": "nvls", "rankGroups": [{"size": 2, "ranks": [0, 1]}]})
        block = gpu["threadblocks"][0]
        block["channels"].append({"src": "i", "dst": "i", "ctype": "nvls", "cids": [0]})
        block["ops"][3] = {"name": "glres", "i_cids": [{"id": 0}], "o_cids": [{"id": 0}], "ctype": "nvls", **near(rank)}
        del block["ops"][4 if not wait_at_end else 7 :]
    return document


def test_packets_and_switches() -> None:
    assert counts(packets()) == set()
    assert counts(switched(wait_at_end=True)) == set()
    assert counts(switched(wait_at_end=False)) == {"left-early"}
    with pytest.raises(InputError, match=r"rankGroups 0: ranks are \[0, 0\]; expected different ones, and 0 among them"):
        plan_of(json.loads(json.dumps(switched(wait_at_end=True)).replace("[0, 1]", "[0, 0]", 1)), "x")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            '"connectedTo": [1]',
            '"connectedTo": [0]',
            r"x: gpus 0: channels 0: connectedTo has 0; allowed: ranks 0 to 1 other than 0",
        ),
        ('"cids": [0]', '"cids": [1]', "gpus 0: threadblocks 0: channels 0: cids has 1; there are 1 of them, numbered from 0"),
        ('"name": "rrcs"', '"name": "rres"', "gpus 0: threadblocks 0: ops 3: unknown name 'rres'"),
        ('"srcoff": 0', '"srcoff": 2', r"ops 3: i\[2\] and 0 after it; buffer i of rank 0 has 2 chunks"),
        ('"step": 1', '"step": 7', "ops 2: deps 0: step is 7; allowed: whole numbers from 0 to 6"),
        ('"colletive"', '"kind"', "x: colletive is missing"),
    ],
)
def test_refused(before: str, after: str, expected: str) -> None:
    text = json.dumps(plan())
    assert before in text
    with pytest.raises(InputError, match=expected):
        plan_of(json.loads(text.replace(before, after, 1)), "x")


def test_no_edit_is_overlooked() -> None:
    """Not read are: names, src and dst where there are srcoff and dstoff, deps, chunkGroups, and places of signals."""
    text, right, rng, refused = json.dumps(plan()), plan_of(plan(), "x"), Random(2024), 0
    ignored = r'"name": "pairs"|"(?:src|dst)": [0-9]+|"deps": \[.*?\]|"chunkGroups": 1|"(?:signal|wait)".*?"cnt": 1|"colletive"'
    spans = [found.span() for found in re.finditer(ignored, text)]
    words = [word for word in re.finditer(r"\w+", text) if not any(low <= word.start() < high for low, high in spans)]
    for _ in range(EDITS):
        word = rng.choice(words)
        change = rng.choice(["x", word[0] + "1", "7" if word[0].isdigit() else "", "1" if word[0] == "0" else "0"])
        if change == word[0]:
            continue
        try:
            came: object = plan_of(json.loads(text[: word.start()] + change + text[word.end() :]), "x")
        except (InputError, json.JSONDecodeError) as error:
            came, refused = str(error), refused + 1
        assert came != right, f"{word[0]} at {word.start()} became {change}"
    assert refused > EDITS // 2
    assert right == plan_of(deepcopy(plan()), "x")
