"""Schedules to MSCCL XML and back: the same transfers, and no more rounds than before."""

import json
from collections import Counter

import pytest

import certree.api as ct
from certree.extras.runtimes.check.algorithm_checker import verify_algorithm
from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.check.plan_checker import verify_plan
from certree.extras.runtimes.check.plan_operations import ROUNDS
from certree.extras.runtimes.make.algorithms import lower_to_algorithm
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.make.plans import lower_to_plan
from certree.extras.runtimes.make.raising import schedule_of_program
from certree.extras.runtimes.model.algorithm import algorithm_of, written_algorithm
from certree.extras.runtimes.model.msccl import read_msccl, written_msccl
from certree.extras.runtimes.model.plan import OpName
from certree.extras.runtimes.model.plan_file import plan_of
from certree.extras.runtimes.model.plan_writer import written_plan
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.verify.checker import verify_schedule
from tests.extras.runtimes.check.foreign import all_pairs, ring
from tests.extras.runtimes.interpreters.interpreter import faults
from tests.extras.runtimes.interpreters.plan_interpreter import faults as plan_faults
from tests.extras.runtimes.interpreters.trace_interpreter import faults as trace_faults
from tests.synth.execution import make
from tests.verify.build import COPY, REDUCE, build, network

NETWORKS = (
    "ring:4",
    "ring:5",
    "mesh:2x3",
    "mesh:3x3",
    "torus:2x4",
    "hypercube:3",
    "full:4",
    "switch:4",
    "fattree:2x2",
    "dgx1",
    "bigraph:2x4",
    "tree:2+2",
)
METHODS = {
    "all-reduce": "multitree",
    "reduce-scatter": "multitree",
    "all-gather": "multitree",
    "broadcast": "binomial",
    "reduce": "binomial",
    "gather": "flows",
    "scatter": "flows",
    "all-to-all": "flows",
}


#: every network with two collectives; all pairs of them passed when this was written
CASES = [(network, kind) for i, network in enumerate(NETWORKS) for j, kind in enumerate(METHODS) if (i + j) % 4 == 0]


@pytest.mark.parametrize(
    ("network", "method"),
    [("ring:5", "partial-sums"), ("torus:3x3", "trivance"), ("switch:4", "one-shot"), ("hypercube:3", "swing")],
)
def test_fine_slots_become_an_order(network, method):
    """With scratch buffers and without: what a program, a plan and traces do in that order is right."""
    schedule = make(method, network, "all-reduce")
    assert schedule.slot_cycles is not None
    assert verify_program(read_msccl(written_msccl(lower_to_program(schedule)), "x.xml")).valid
    assert verify_plan(lower_to_plan(schedule)).valid
    assert verify_algorithm(lower_to_algorithm(schedule, 4096)).valid


@pytest.mark.parametrize(("network", "collective"), CASES)
def test_round_trip(network, collective):
    root = 1 if collective in ("broadcast", "reduce", "gather", "scatter") else None
    schedule = written_out(make(METHODS[collective], network, collective, root=root))
    program = lower_to_program(schedule)
    text = written_msccl(program)
    checked = verify_program(read_msccl(text, "x.xml"))
    assert checked.valid, checked.verdict
    if collective in ("all-reduce", "all-gather") and network != "dgx1":
        assert not faults(text.decode())
    back = schedule_of_program(checked, schedule.topology, "msccl-xml")
    assert verify_schedule(back).valid
    assert back.rounds.sum() <= schedule.rounds.sum()
    assert (back.transfers, back.buffers, back.collective) == (schedule.transfers, 1, schedule.collective)


#: every network with one collective; all pairs of them passed when this was written
PLAN_CASES = [(network, kind) for i, network in enumerate(NETWORKS) for j, kind in enumerate(METHODS) if (i + 3 * j) % 8 == 0]


@pytest.mark.parametrize(("network", "collective"), PLAN_CASES)
def test_round_trip_as_a_plan(network, collective):
    root = 1 if collective in ("broadcast", "reduce", "gather", "scatter") else None
    schedule = written_out(make(METHODS[collective], network, collective, root=root))
    plan = lower_to_plan(schedule)
    data = written_plan(plan)
    assert plan_of(json.loads(data), "x.json") == plan
    checked = verify_plan(plan)
    assert checked.valid, checked.verdict
    if collective in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        assert not plan_faults(data.decode())
    back = schedule_of_program(checked, schedule.topology, "mscclpp")
    assert verify_schedule(back).valid
    halves = 1 if schedule.repeats == 1 else ROUNDS  # loops are executed twice, each time for half of a chunk
    assert back.rounds.sum() <= halves * schedule.rounds.sum()
    assert (back.transfers, back.buffers, back.collective) == (halves * schedule.transfers, 1, schedule.collective)


#: every network with one collective; all pairs of them passed when this was written
TRACE_CASES = [(network, kind) for i, network in enumerate(NETWORKS) for j, kind in enumerate(METHODS) if (i + 5 * j) % 8 == 1]


@pytest.mark.parametrize(("network", "collective"), TRACE_CASES)
def test_round_trip_as_traces(network, collective):
    root = 1 if collective in ("broadcast", "reduce", "gather", "scatter") else None
    schedule = written_out(make(METHODS[collective], network, collective, root=root))
    algorithm = lower_to_algorithm(schedule, 1 << 20)
    files = written_algorithm(algorithm)
    assert algorithm_of(files, "x") == algorithm
    checked = verify_algorithm(algorithm)
    assert checked.valid, checked.verdict
    if collective in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        assert not trace_faults(dict(enumerate(files.values())))
    back = schedule_of_program(checked, schedule.topology, "chakra")
    assert verify_schedule(back).valid
    assert back.rounds.sum() <= schedule.repeats * schedule.rounds.sum()
    assert (back.transfers, back.buffers, back.collective) == (schedule.repeats * schedule.transfers, 1, schedule.collective)


def test_a_plan_of_a_schedule_that_repeats():
    """The loop of the plan handles a part of one chunk at a time, so copies of several are not joined."""
    plan = lower_to_plan(written_out(make("flows", "dgx1", "gather", root=1)))
    (loop,) = {one.name for rank in plan.ranks for block in rank.blocks for one in block if one.body}
    assert loop is OpName.LOOP
    assert verify_plan(plan).valid


def test_several_channels_where_a_thread_block_has_too_many_steps():
    schedule = make("packing", "ring:4", chunks=48)
    few, many = lower_to_program(schedule), lower_to_program(schedule, most_steps=16)
    assert few.channels < many.channels
    assert max(len(block.steps) for rank in many.ranks for block in rank.blocks) <= 16
    assert verify_program(many).valid
    assert not faults(written_msccl(many).decode())


def test_trees_of_weight_above_one():
    """Two of the seven chunks go down the same tree, whose weight is therefore 2."""
    schedule = written_out(make("packing", "mesh:2x3"))
    rows = zip(*(column.tolist() for column in (schedule.chunk, schedule.op, schedule.src, schedule.dst)), strict=True)
    trees: dict[int, set[tuple[int, ...]]] = {}
    for chunk, *edge in rows:
        trees.setdefault(chunk, set()).add(tuple(edge))
    assert max(Counter(map(frozenset, trees.values())).values()) == 2
    program = lower_to_program(schedule)
    assert verify_program(program).valid
    assert not faults(written_msccl(program).decode())
    assert verify_plan(lower_to_plan(schedule)).valid


def test_what_does_not_fit_is_refused_with_the_number():
    with pytest.raises(UnsupportedError, match=r"rank 0, thread block 0: 2 steps; the executor takes 0"):
        lower_to_program(make("ring", "ring:3"), most_steps=0)


def test_switches_that_reduce_are_refused():
    with pytest.raises(UnsupportedError, match="node 4 is a switch that reduces; only ranks add"):
        lower_to_program(make("netreduce", "switch:4,reducing=switches"))
    with pytest.raises(UnsupportedError, match=r"a transfer from node \d+ to \d+, between switches that reduce"):
        lower_to_plan(make("netreduce", "tree:2+2,reducing=switches"))
    with pytest.raises(
        UnsupportedError, match="reduce-scatter through a switch that reduces; the executor's operation of a switch is"
    ):
        lower_to_plan(
            build("switch:2,reducing=switches", "reduce-scatter", [(0, REDUCE, 0, 0, 2), (0, REDUCE, 1, 2, 1)], roots=[1])
        )


@pytest.mark.parametrize(
    ("network", "method", "options", "blocks"),
    [
        ("switch:8", "netreduce", {}, 1),
        ("switch:4", "packing", {}, 1),
        ("switch:20", "netreduce", {}, 2),
        ("switch:4", "in-switch", {"pieces": "3"}, 1),
        ("switch:4", "in-switch", {"pieces": "3", "form": "pull"}, 1),
    ],
)
def test_a_switch_makes_the_all_reduce_of_a_plan(network, method, options, blocks):
    """An operation of the switch for each thread block, and channels to all other ranks, at most 16 for each block."""
    schedule = written_out(make(method, f"{network},reducing=switches", options=options))
    plan = lower_to_plan(schedule)
    assert plan_of(json.loads(written_plan(plan)), "x.json") == plan
    checked = verify_plan(plan)
    assert checked.valid, checked.verdict
    assert not plan_faults(written_plan(plan).decode())
    names = Counter(operation.name for _, _, _, operation in plan.operations())
    assert names[OpName.SWITCH_REDUCE_STORE] == blocks * len(plan.ranks)
    assert not names.keys() & {OpName.PUT, OpName.COPY, OpName.REDUCE}


def test_switches_side_by_side_count_as_one():
    both = network("eess", [(e, s, 1) for e in (0, 1) for s in (2, 3)] + [(s, e, 1) for e in (0, 1) for s in (2, 3)], [2, 3])
    rows = [row for c in (0, 1) for e in (0, 1) for row in ((c, REDUCE, 0, e, 2 + c), (c, COPY, 1, 2 + c, e))]
    plan = lower_to_plan(build(both, "all-reduce", rows))
    assert verify_plan(plan).valid
    assert not plan_faults(written_plan(plan).decode())
    crossed = [(c, op, step, a, 5 - b if b > 1 and (c, a) == (0, 1) else b) for c, op, step, a, b in rows]
    with pytest.raises(UnsupportedError, match="chunk 0 passes several switches that reduce; one can add it"):
        lower_to_plan(build(both, "all-reduce", crossed))


def test_other_transfers_than_through_the_switch_are_refused():
    rows = [(0, REDUCE, 0, 0, 2), (0, REDUCE, 0, 1, 2), (0, COPY, 1, 2, 0), (0, COPY, 1, 2, 1)]
    assert verify_plan(lower_to_plan(build("switch:2,reducing=switches", "all-reduce", rows))).valid
    once = [*rows[:3], (0, COPY, 2, 0, 1)]
    with pytest.raises(UnsupportedError, match="a transfer from node 0 to 1, past the switches that reduce"):
        lower_to_plan(build("switch:2,reducing=switches", "all-reduce", once))
    with pytest.raises(UnsupportedError, match="1 transfers from switches that reduce; expected 2, one for each chunk and rank"):
        lower_to_plan(build("switch:2,reducing=switches", "all-reduce", rows[:3]))


def test_scratch_buffers():
    """Each of three nodes keeps what it has in scratch, and still sends it when the sum is there."""
    rows = [(0, COPY, 0, n, n) for n in range(3)] + [(0, REDUCE, 1, n, (n + 1) % 3) for n in range(3)]
    rows += [(0, REDUCE, 2, n, (n + 2) % 3) for n in range(3)]
    schedule = build("full:3", "all-reduce", rows, buffers=2, src_buffer=[0] * 3 + [1] * 6, dst_buffer=[1] * 3 + [0] * 6)
    assert verify_schedule(schedule).valid
    program = lower_to_program(schedule)
    checked = verify_program(program)
    assert checked.valid, checked.verdict
    assert not faults(written_msccl(program).decode())
    assert verify_schedule(schedule_of_program(checked, schedule.topology, "x")).valid


@pytest.mark.parametrize("text", [ring(4), all_pairs(3)])
def test_programs_of_others_become_schedules(text):
    checked = verify_program(read_msccl(text.encode(), "x.xml"))
    topology = parse_topology(f"full:{checked.layout.ranks}")
    schedule = schedule_of_program(checked, topology, "msccl-xml")
    assert verify_schedule(schedule).valid
    assert schedule.steps == {4: 6, 3: 2}[checked.layout.ranks]
    assert read_msccl(written_msccl(checked.program), "x.xml") == checked.program


def test_a_program_where_a_schedule_is_asked_for(tmp_path, monkeypatch) -> None:
    """With its network it is reported on; without one, one line says that it needs one."""
    monkeypatch.chdir(tmp_path)
    ct.export_program(ct.synthesize("ring:4", size="64KiB"), "msccl-xml", "ring.xml")
    assert ct.verify("ring.xml").valid
    ct.report("ring.xml", "report.html", topology="ring:4", published=False)
    for ask in (lambda: ct.report("ring.xml", "again.html"), lambda: ct.cost("ring.xml"), lambda: ct.draw("ring.xml", "ring.svg")):
        with pytest.raises(InputError, match=r"ring\.xml: a program does not say its network"):
            ask()
    with pytest.raises(InputError, match="is not a tables directory or a bundle"):
        ct.import_tables("ring.xml")
