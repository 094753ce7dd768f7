"""Plans with packets (protocol LL): what their flags order, and what they do not."""

import json
from pathlib import Path
from typing import Any

import pytest

import certree.api as ct
from certree.extras.runtimes.check.plan_checker import PlanVerdict, verify_plan
from certree.extras.runtimes.model.plan_file import plan_of
from certree.models.common.errors import InputError

Document = dict[str, Any]


def at(buffer: str, index: int) -> Document:
    return {"type": buffer, "index": index, "size": 1}


def far(index: int) -> Document:
    return {"buffer_id": 0, "index": index, "size": 1}


def plan(**changed: Any) -> Document:
    """An all-reduce of two ranks and one chunk: each puts its chunk as packets into scratch of the other, and adds."""
    put = {"name": "ppkt", "src_buff": [at("i", 0)], "dst_buff": [far(0)], "channel_type": "memory"}
    add = {"name": "repkt", "src_buff": [at("i", 0), at("s", 0)], "dst_buff": [at("i", 0)], "reduce_op": "sum"}
    ops = changed.pop("ops", [put, {"name": "nop"}, add])
    ends = {
        "channels": [{"channel_type": "memory", "channel_ids": [0]}],
        "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}],
    }
    gpus = [
        {
            "id": rank,
            **{f"{name}_chunks": 1 for name in ("input", "output", "scratch")},
            "threadblocks": [{"id": 0, "ops": ops, **ends}],
            "channels": [{"channel_type": "memory", "connected_to": [1 - rank]}],
            "remote_buffers": [{"rank": 1 - rank, "type": "s", "access_channel_types": ["memory"]}],
            "semaphores": [],
        }
        for rank in (0, 1)
    ]
    head = {"name": "two", "collective": "allreduce", "protocol": "LL", "inplace": True, "use_double_scratch_buffer": True}
    return {**head, "gpus": gpus, **changed}


PUT, NOP, ADD = plan()["gpus"][0]["threadblocks"][0]["ops"]


def checked(document: Document) -> PlanVerdict:
    return verify_plan(plan_of(document, "x"))


def test_a_sum_of_packets(tmp_path: Path) -> None:
    assert checked(plan()).valid
    (tmp_path / "two.json").write_text(json.dumps(plan()))
    made = ct.import_program(tmp_path / "two.json", "ring:2")
    assert (ct.verify(made).valid, len(made.chunk)) == (True, 2)


@pytest.mark.parametrize(
    ("document", "rules"),
    [
        (plan(ops=[PUT, ADD]), {"race"}),  # nothing says that all threads have sent the chunk before one adds to it
        (plan(ops=[ADD, NOP, PUT]), {"deadlock-in-program"}),
        (plan(ops=[PUT]), {"wrong-data"}),
        (plan(ops=[PUT, NOP, ADD, NOP, {**ADD, "name": "re"}]), {"race", "wrong-data"}),  # reads packets as data
        (plan(ops=[PUT, NOP, {**ADD, "src_buff": [at("s", 0), at("s", 0)]}]), {"wrong-data"}),
        (plan(ops=[PUT, NOP, ADD, NOP, ADD]), {"wrong-data"}),  # adds a second time
        (plan(use_double_scratch_buffer=False), {"not-started", "left-early"}),
    ],
)
def test_faults(document: Document, rules: set[str]) -> None:
    assert set(checked(document).verdict.counts) == rules


def by_switch(*more: Document, added: int = 1) -> Document:
    """Each rank has the switch store its chunk, as packets, at its own place in scratch of both, and adds that of the other."""
    found = plan()
    for rank, gpu in enumerate(found["gpus"]):
        store = {"name": "gstorepkt", "src_buff": [at("i", 0)], "channel_type": "switch"}
        store["dst_buff"] = [{"switch_channel_id": 0, "index": rank, "size": 1}]
        add = {**ADD, "src_buff": [at("i", 0), at("s", (rank + added) % 2)]}
        gpu["scratch_chunks"] = 2
        gpu["channels"] = [{"channel_type": "switch", "buffer_type": "s", "rank_groups": [{"size": 2, "ranks": [0, 1]}]}]
        gpu["threadblocks"][0] = {
            "id": 0,
            "ops": [store, NOP, *more, add],
            "channels": [{"channel_type": "switch", "channel_ids": [0]}],
            "remote_buffer_refs": [],
        }
    return found


def test_packets_by_switch() -> None:
    assert checked(by_switch()).valid
    assert set(checked(by_switch(added=0)).verdict.counts) == {"wrong-data"}  # its own chunk twice
    as_data = {"name": "copy", "src_buff": [at("s", 0)], "dst_buff": [at("s", 1)]}
    assert "race" in checked(by_switch(as_data)).verdict.counts


def test_packets_are_in_scratch() -> None:
    wrong = plan(ops=[PUT, NOP, {**ADD, "src_buff": [at("i", 0), at("i", 0)]}])
    with pytest.raises(InputError, match="repkt: packets in buffer i; expected scratch"):
        plan_of(wrong, "x")
