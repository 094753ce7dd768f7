"""The order in which programs add: that of the schedule, that of foreign programs, and what leaves it open."""

import copy

import pytest

from certree.extras.runtimes.check.algorithm_checker import verify_algorithm
from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.check.plan_checker import verify_plan
from certree.extras.runtimes.make.algorithms import lower_to_algorithm
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.make.plans import lower_to_plan
from certree.extras.runtimes.model.algorithm import algorithm_of
from certree.extras.runtimes.model.msccl import read_msccl
from certree.extras.runtimes.model.plan_file import plan_of
from certree.extras.runtimes.reports import program_report, program_words
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.verify.order.additions import additions_of
from tests.extras.runtimes.check.foreign import all_pairs
from tests.extras.runtimes.check.test_algorithms import RING, without_data
from tests.extras.runtimes.check.test_plan_rules import ADD, NOP, OPS, notify, on, plan
from tests.synth.execution import make


@pytest.mark.parametrize(
    ("network", "method", "collective"),
    [
        ("hypercube:3", "halving-doubling", "all-reduce"),
        ("mesh:2x3", "multitree", "reduce-scatter"),
        ("ring:5", "ring", "all-reduce"),
        ("switch:4", "one-shot", "all-reduce"),
    ],
)
def test_programs_add_as_their_schedule(network, method, collective) -> None:
    schedule = written_out(make(method, network, collective))
    wanted = additions_of(schedule)
    verdicts = [
        verify_program(lower_to_program(schedule)),
        verify_plan(lower_to_plan(schedule)),
        verify_algorithm(lower_to_algorithm(schedule, 4096)),
    ]
    for found in [verdict.additions for verdict in verdicts]:
        assert (found.orders, found.expression, found.is_nested) == (wanted.orders, wanted.expression, wanted.is_nested)
        assert (found.fixed_by, found.ties) == ("waits", 0)


def test_a_foreign_program() -> None:
    """All pairs: each rank adds the parts of the others, by rank, to its own."""
    text = all_pairs(4)
    found = verify_program(read_msccl(text.encode(), "x.xml"))
    assert (found.additions.orders, found.additions.differs) == (3, None)  # ranks 0 and 1 begin with the same two
    assert "  order of additions: 3 for 4 chunks; the same at all ranks; fixed by what steps wait for" in words(found, "msccl-xml")
    reduced = plan([op for op in OPS if op is not ADD] + [{**ADD, "src_buff": [on("s", 0), on("i", 0)]}])
    found = verify_plan(plan_of(reduced, "x"))
    assert (found.additions.expression, found.additions.is_nested) == ("(0,1)", True)


def words(found, kind):
    return program_words(program_report(found, kind)).splitlines()


def three(*, is_chain):
    """Three ranks of which rank 0 adds what the others put into its scratch, by two thread blocks, in turns (`is_chain`) or as a
    lock lets them; and gives everybody the sum."""
    gpus = []
    for rank in range(3):
        others = [peer for peer in range(3) if peer != rank]
        blocks = []
        for at in range(2 if rank == 0 else 1):
            start = [notify("rlxsignal"), notify("rlxwait"), NOP]
            if rank:
                put = {"name": "put", "src_buff": [on("i", 0)], "dst_buff": [on("s", rank - 1, far=True)], "channel_type": "memory"}
                ops = [*start, put, NOP, notify("signal"), notify("wait")]
            else:
                add = {**ADD, "src_buff": [on("o", 0), on("s", at)]}
                out = {**PUT_SUM, "src_buff": [on("o", 0)], "dst_buff": [on("o", 0, far=True)]}
                first = [{"name": "copy", "src_buff": [on("i", 0)], "dst_buff": [on("o", 0)]}, NOP, lock("release", 0)]
                turn = at if is_chain else 0
                meet = {"name": "barrier", "barrier_id": 0, "num_threadblocks": 2}
                ops = [*start, *(first if at == 0 else []), notify("wait"), lock("acquire", turn), NOP, add, NOP]
                freed = [lock("release", 0)] if not is_chain else [lock("release", 1)][at:]
                ops += [*freed, meet, out, NOP, notify("signal")]
            channels = [{"channel_type": "memory", "channel_ids": [at]}]
            refs = [{"access_channel_type": "memory", "remote_buffer_ids": [at]}]
            blocks.append({"id": at, "ops": ops, "channels": channels, "remote_buffer_refs": refs})
        gpu = {"id": rank, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": 2, "threadblocks": blocks}
        gpu["channels"] = [{"channel_type": "memory", "connected_to": others if rank == 0 else [0]}]
        gpu["remote_buffers"] = [
            {"rank": peer, "type": "s" if rank else "o", "access_channel_types": ["memory"]}
            for peer in (others if rank == 0 else [0])
        ]
        gpu["semaphores"] = [{"init_value": 0}, {"init_value": 0}]
        gpus.append(gpu)
    return {**plan(), "gpus": gpus}


PUT_SUM = {"name": "put", "channel_type": "memory"}


def lock(name, number):
    return {"name": f"sem_{name}", "semaphore_ids": [number]}


def test_a_lock_leaves_the_order_open() -> None:
    chain, free = (verify_plan(plan_of(three(is_chain=is_chain), "x")) for is_chain in (True, False))
    assert (chain.valid, free.valid) == (True, True), (chain.verdict.violations, free.verdict.violations)
    assert (chain.additions.expression, chain.additions.fixed_by) == ("((0,1),2)", "waits")
    assert (free.additions.fixed_by, free.additions.tied) == ("arrival", (0, 0))
    last = "not fixed: 1 operand is added in no stated order, for example for chunk 0 at rank 0"
    assert words(free, "mscclpp")[-1].endswith(last)


def test_barriers_of_too_many_blocks_leave_the_order_open() -> None:
    """A third block copies, then lets one of the two that add go after the other, in any order."""
    document = three(is_chain=True)
    blocks = document["gpus"][0]["threadblocks"]

    def meet(number):
        return {"name": "barrier", "barrier_id": number, "num_threadblocks": 2}

    for at, block in enumerate(blocks):
        out = {**PUT_SUM, "src_buff": [on("o", 0)], "dst_buff": [on("o", 0, far=True)]}
        add = {**ADD, "src_buff": [on("o", 0), on("s", at)]}
        waits = [notify("rlxsignal"), notify("rlxwait"), NOP, notify("wait"), NOP]
        block["ops"] = [*waits, meet(5), add, NOP, meet(6), meet(0), out, NOP, notify("signal")]
    first = [{"name": "copy", "src_buff": [on("i", 0)], "dst_buff": [on("o", 0)]}, NOP]
    blocks.append({"id": 2, "ops": [*first, *map(meet, (5, 6, 5, 6))], "channels": [], "remote_buffer_refs": []})
    found = verify_plan(plan_of(document, "x"))
    assert found.valid, found.verdict.violations
    assert (found.additions.fixed_by, found.additions.tied) == ("arrival", (0, 0))


def test_a_switch_has_an_order_of_its_own() -> None:
    schedule = make("netreduce", "switch:3,reducing=switches", "all-reduce")
    found = verify_plan(lower_to_plan(written_out(schedule))).additions
    assert (found.is_fixed, found.fixed_by) == (False, "arrival")


def test_traces_without_data_have_no_known_order() -> None:
    found = verify_algorithm(algorithm_of(without_data(RING), "x"), CollectiveKind.ALL_REDUCE)
    report = program_report(found, "chakra")
    assert (report["order"], report["valid"]) == (None, True)
    assert words(found, "chakra")[-1].endswith("order of additions: unknown: the traces do not say which data their messages have")


def test_what_is_there_is_added_once() -> None:
    twice = copy.deepcopy(plan())
    for gpu in twice["gpus"]:
        first = {"name": "copy", "src_buff": [on("i", 0)], "dst_buff": [on("o", 0)]}
        gpu["threadblocks"][0]["ops"][-1:] = [first, NOP, {**ADD, "src_buff": [on("s", 0), on("o", 0), on("o", 0)]}]
    (message, *_) = [one.message for one in verify_plan(plan_of(twice, "x")).verdict.violations]
    assert "adds chunk 0 of rank 0 a second time" in message
