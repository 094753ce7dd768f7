"""Each rule for plans of MSCCL++: a plan with that fault breaks it, and no other rule that it need not break as well."""

import copy
import json

import pytest

from certree.extras.runtimes.check.plan_checker import verify_plan
from certree.extras.runtimes.model.plan_file import plan_of
from certree.extras.runtimes.model.plan_writer import written_plan
from certree.models.common.errors import InputError, UnsupportedError
from tests.extras.runtimes.interpreters.plan_interpreter import faults


def on(kind, index, size=1, *, far=False):
    return {"buffer_id": 0, "index": index, "size": size} if far else {"type": kind, "index": index, "size": size}


def notify(name):
    return {"name": name, "channel_ids": [0], "channel_type": "memory"}


NOP = {"name": "nop"}
PUT = {"name": "put", "src_buff": [on("i", 0)], "dst_buff": [on("s", 0, far=True)], "channel_type": "memory"}
ADD = {"name": "re", "src_buff": [on("i", 0), on("s", 0)], "dst_buff": [on("o", 0)], "reduce_op": "sum"}
OPS = [notify("rlxsignal"), notify("rlxwait"), NOP, PUT, NOP, notify("signal"), notify("wait"), NOP, ADD]


def plan(ops=None, *, both=OPS, scratch=1, blocks=1, **more):
    """Two ranks that put their input into each other's scratch and add what comes; `ops`: those of rank 0."""
    gpus = []
    for rank in range(2):
        channels = [{"channel_type": "memory", "channel_ids": [0]}]
        refs = [{"access_channel_type": "memory", "remote_buffer_ids": [0]}]
        operations = both if rank or ops is None else ops
        found = [
            {"id": at, "ops": copy.deepcopy(operations), "channels": channels, "remote_buffer_refs": refs} for at in range(blocks)
        ]
        gpu = {"id": rank, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": scratch, "threadblocks": found}
        gpu["channels"] = [{"channel_type": "memory", "connected_to": [1 - rank]}]
        gpu["remote_buffers"] = [{"rank": 1 - rank, "type": "s", "access_channel_types": ["memory"]}]
        gpus.append(gpu)
    head = {"name": "exchange", "collective": "allreduce", "protocol": "Simple", "inplace": False, "buffer_alignment": 16}
    return {**head, "gpus": gpus, **more}


def without(*numbers):
    return [op for at, op in enumerate(OPS) if at not in numbers]


def changed(number, **fields):
    return [{**op, **fields} if at == number else op for at, op in enumerate(OPS)]


MANY = [*OPS, *[{"name": "copy", "src_buff": [on("o", 0)], "dst_buff": [on("s", 1)]}] * 60]
FAULTS = {
    "limit": plan(MANY, scratch=2),
    "unmatched": plan([*OPS, notify("wait")]),
    "connection": plan(blocks=2),
    "deadlock-in-program": plan(both=[OPS[1], OPS[0], *OPS[2:]]),
    "race": plan(without(7)),
    "input-changed": plan(
        [*changed(8, dst_buff=[on("i", 0)]), {"name": "copy", "src_buff": [on("i", 0)], "dst_buff": [on("o", 0)]}]
    ),
    "not-started": plan([OPS[0], NOP, PUT, NOP, notify("signal"), notify("wait"), notify("wait"), NOP, ADD]),
    "left-early": plan(
        [*OPS[:5], notify("signal"), notify("wait"), NOP, ADD, {**PUT, "dst_buff": [on("s", 1, far=True)]}], scratch=2
    ),
    "wrong-data": plan(changed(8, src_buff=[on("i", 0)])),
}
OTHERS = {"input-changed": {"race", "wrong-data"}, "limit": {"race"}, "race": set(), "connection": {"race"}}


def broken(document):
    return set(verify_plan(plan_of(document, "x.json"), executor="mscclpp-0.9").verdict.counts)


def test_the_right_one_is_right() -> None:
    assert not broken(plan())
    assert not faults(json.dumps(plan()))


@pytest.mark.parametrize("rule", FAULTS)
def test_rule(rule) -> None:
    document = FAULTS[rule]
    assert {rule} <= broken(document) <= {rule} | OTHERS.get(rule, set())
    assert faults(json.dumps(document))


def test_limits_name_the_number() -> None:
    verdict = verify_plan(plan_of(FAULTS["limit"], "x"), executor="mscclpp-0.9").verdict
    assert "rank 0, thread block 0: 69 operations; the executor takes 64" in [one.message for one in verdict.violations]
    get = {"name": "get", "src_buff": [on("s", 0, far=True)], "dst_buff": [on("s", 1)], "channel_type": "memory"}
    loop = {"name": "pipeline", "iter_context": {"unit_size": 17, "num_chunks": 1}, "ops": [NOP]}
    wide = plan([*OPS, get, loop], scratch=2, collective="allreduce")
    messages = [one.message for one in verify_plan(plan_of(wide, "x"), executor="mscclpp-0.9").verdict.violations]
    assert "rank 0, thread block 0, operation 9 (get): from one offset to another one; the executor exchanges the two" in messages
    assert "rank 0, thread block 0, operation 10 (pipeline): 17 bytes at a time; expected a multiple of 16" in messages


def test_loops_semaphores_and_barriers() -> None:
    """Block 1 adds up what block 0 received, in a loop, when it releases a semaphore; both meet at the end."""
    document = plan()
    for gpu in document["gpus"]:
        (block,) = gpu["threadblocks"]
        loop = {"name": "pipeline", "iter_context": {"unit_size": 64, "num_chunks": 1}}
        meet = {"name": "barrier", "barrier_id": 0, "num_threadblocks": 2}
        release, acquire = ({"name": name, "semaphore_ids": [0]} for name in ("sem_release", "sem_acquire"))
        block["ops"] = [*OPS[:3], {**loop, "ops": [PUT, NOP, notify("signal"), notify("wait"), NOP, release]}, meet]
        adding = {"id": 1, "ops": [{**loop, "ops": [acquire, NOP, ADD]}, meet], "channels": [], "remote_buffer_refs": []}
        gpu["threadblocks"].append(adding)
        gpu["semaphores"] = [{"init_value": 0}]
    assert not broken(document)
    read = plan_of(document, "x")
    assert plan_of(json.loads(written_plan(read)), "x") == read
    eager = copy.deepcopy(document)
    eager["gpus"][0]["semaphores"] = [{"init_value": 1}]
    assert broken(eager) == {"race", "wrong-data"}
    alone = copy.deepcopy(document)
    alone["gpus"][0]["threadblocks"][0]["ops"].pop()
    assert broken(alone) == {"deadlock-in-program"}


def test_groups_of_thread_blocks_and_switches() -> None:
    """Rank 0 lets the switch add up the inputs in two halves, one for each thread block; nobody else needs to."""
    document = plan([])
    start, end = [notify("signal"), notify("wait"), NOP], [NOP, notify("signal"), notify("wait")]
    there = {"switch_channel_id": 0, "index": 0, "size": 1}
    add = {"name": "glres", "src_buff": [there], "dst_buff": [{**there, "switch_channel_id": 1}], "channel_type": "switch"}
    for rank, gpu in enumerate(document["gpus"]):
        gpu["channels"][0]["connected_to"] = [1 - rank] * 2
        gpu["channels"] += [
            {"channel_type": "switch", "buffer_type": kind, "rank_groups": [{"size": 2, "ranks": [0, 1]}]} for kind in "io"
        ]
        gpu["threadblocks"] = [
            {
                "id": at,
                "ops": [*start, *([] if rank else [{**add, "tbg_info": {"tb_id": at, "tbg_size": 2}}]), *end],
                "channels": [{"channel_type": "memory", "channel_ids": [at]}, {"channel_type": "switch", "channel_ids": [0, 1]}],
                "remote_buffer_refs": [],
            }
            for at in range(2)
        ]
    assert not broken(document)
    half = copy.deepcopy(document)
    half["gpus"][0]["threadblocks"][1]["ops"].pop(3)
    assert broken(half) == {"wrong-data"}
    assert "o[1/2] of rank 0: nothing was ever written there" in str(verify_plan(plan_of(half, "x.json")).verdict)
    alone = copy.deepcopy(document)
    del alone["gpus"][1]["channels"][2]
    for block in alone["gpus"][1]["threadblocks"]:
        del block["channels"][1]
    assert broken(alone) == {"connection"}
    for change, words in (
        ({"size": 3}, "size is 3; there are 2 ranks"),
        ({"ranks": [1, 1]}, "expected different ones, and 0 among"),
    ):
        wrong = copy.deepcopy(document)
        wrong["gpus"][0]["channels"][1]["rank_groups"][0] |= change
        with pytest.raises(InputError, match=words):
            plan_of(wrong, "x.json")
    put = copy.deepcopy(document)
    put["gpus"][0]["threadblocks"][0]["ops"][3]["name"] = "re"
    with pytest.raises(InputError, match="re has switch_channel_id; expected buffers of single ranks"):
        plan_of(put, "x.json")
    with pytest.raises(UnsupportedError, match="no schedule is made of that"):
        verify_plan(plan_of(document, "x")).run()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("collective", "allsum", "x.json: unknown collective 'allsum'; known: allreduce"),
        ("gpus", [], "gpus is []; expected a list of 2 or more tables"),
        ("gpus.1.id", 0, "gpus 1: id is 0; ranks are listed in their order, and this is number 1"),
        ("gpus.0.input_chunks", -1, "gpus 0: input_chunks is -1; allowed: whole numbers from 0 to 32768"),
        ("gpus.0.channels.0.connected_to.0", 2, "gpus 0: channels 0: connected_to has 2; allowed: ranks 0 to 1 other than 0"),
        ("gpus.0.channels.0.channel_type", "wire", "unknown channel_type 'wire'; known: memory, port, switch"),
        ("gpus.0.threadblocks.0.channels.0.channel_ids.0", 1, "channel_ids has 1; this rank has 1 of them, numbered from 0"),
        ("gpus.0.threadblocks.0.ops.3.name", "push", "gpus 0: threadblocks 0: ops 3: unknown name 'push'"),
        ("gpus.0.threadblocks.0.ops.3.src_buff.0.index", 1, "i[1] and 0 after it; buffer i of rank 0 has 1 chunks"),
        ("gpus.0.threadblocks.0.ops.3.src_buff", [], "put has 0 sources and 1 targets; expected equally many"),
        ("gpus.0.threadblocks.0.ops.3.dst_buff.0.buffer_id", 1, "buffer_id has 1; this rank has 1 of them"),
        ("gpus.0.threadblocks.0.ops.5.channel_ids", [], "signal has no channels"),
        ("gpus.0.threadblocks.0.ops.5.channel_ids.0", "0", "channel_ids has '0'; this rank has 1 of them"),
        ("gpus.0.remote_buffers.0.rank", 9, "remote_buffers 0: rank is 9; allowed: whole numbers from 0 to 1"),
    ],
)
def test_what_is_no_plan(path, value, words) -> None:
    document = plan()
    at = document
    *inner, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    for name in inner:
        at = at[name]
    at[last] = value
    with pytest.raises((InputError, UnsupportedError)) as caught:
        plan_of(document, "x.json")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
