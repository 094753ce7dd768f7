"""The symbolic interface and the TLA+ module reach the same states on small tables: one is no hand copy of the other."""

from dataclasses import replace
from functools import cache

import pytest

from certree.extras.tla.check.generated import Generated
from certree.extras.tla.check.symbolic.invariant import MUTANTS
from certree.extras.tla.check.table_constants import CheckedTables, plan_of, values, written
from certree.extras.tla.check.tlc import Result
from certree.extras.tla.check.tlc_values import parse_value
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.method import Request, load_methods
from tests.specs.symbolic.encoded import Clock, Explorer, Reached, TableWorld, all_clocks
from tests.specs.test_table_model import schedule_of

MACHINE = replace(
    load_machine("multitree"), head_flits=0, link_latency_cycles=1, router_cycles=1, ni_cycles=0, reduce_bytes_per_cycle=16,
    reduce_quantum_cycles=1, reduce_start_cycles=1,
)  # fmt: skip
# In place of Events: time takes every tick, as it may in the symbolic machine; and each state printed, in numbers.
DEFINITIONS = (
    "EveryTick == LET all == UNION {MessageEvents(m) : m \\in flying} \\union UNION {SequencerEvents(n) : n \\in Nodes}\n"
    "             IN  IF \\E t \\in all : t > now THEN {now + 1} ELSE {}",
    'Told(n) == {<<IF of[1] = "REDUCE" THEN 1 ELSE 0, of[2], of[3], count[n][of]>> : of \\in Arrivals[n]}',
    "IsPrinted == PrintT(ToString(<<now, {<<n, start[n], drift[n]>> : n \\in Nodes}, {<<n, fired[n]>> : n \\in Nodes},\n"
    "  {<<n, Told(n)>> : n \\in Nodes}, {<<m.src, m.row, m.item[2], m.dst, m.sent>> : m \\in flying}>>))",
)
#: three iterations of an all-reduce of two chunks
REPEATING = schedule_of(
    "mesh:1x2", "all-reduce", [(0, "R", 1, 0, 0), (1, "R", 0, 1, 0), (0, "G", 0, 1, 1), (1, "G", 1, 0, 1)], period=2, repeats=3
)
#: network, method, collective, message bytes, skew, drift in ticks a slot
SMALL = [
    ("mesh:1x2", "multitree", "all-reduce", 1, 1, 0),
    ("mesh:1x2", "by hand", "all-reduce", 1, 0, 0),
    ("mesh:1x2", "multitree", "all-reduce", 1, 0, 1),
    ("mesh:1x3", "multitree", "reduce-scatter", 1, 1, 0),
    ("ring:3", "multitree", "reduce-scatter", 1, 0, 0),
    ("mesh:1x3", "multitree", "all-gather", 1, 0, 0),
]
PARTS = sorted({
    part for part, obligation in MUTANTS if not part.startswith(("rule ", "conjunct ")) and not obligation.startswith("slots")
})  # fmt: skip


@cache
def planned(case) -> tuple[CheckedTables, int, tuple[int, int]]:
    """The plan, the length of a slot with room for the clocks, and the window of sums."""
    network, method, collective, size, skew, drift = case
    request = Request(parse_topology(network), parse_collective(collective), size, MACHINE)
    made = REPEATING if method == "by hand" else load_methods()[method](request)
    plan = plan_of(lower(made, size, MACHINE))
    timing, slot = plan.timing, plan.tables.slot_cycles
    while plan.tables.delay * (slot - drift) < timing.ser + timing.lat + timing.red + skew + 2 * drift * plan.slots:
        slot += 1
    return plan, slot, (max(0, timing.red - 1), timing.red)


@cache
def by_tlc(case) -> dict[tuple[tuple[int, Clock], ...], set[Reached]]:
    """The states of the TLA+ module, by the clocks of the nodes."""
    plan, slot, (least, most) = planned(case)
    changed = {
        "SlotTicks": slot,
        "MinReduceTicks": least,
        "MaxReduceTicks": most,
        "MaxSkewTicks": case[4],
        "MaxDriftTicks": case[5],
    }
    chosen = {"Events": "EveryTick"}
    model = Generated("CheckNILockstep", written(plan), values(plan) | changed, ("IsPrinted",), (), "Spec", chosen, DEFINITIONS)
    run = model.run(time_limit=300)
    assert run.result is Result.SUCCESS, run.broken
    printed = run.printed - {"legend begins", "legend ends"}
    assert run.distinct_states == len(printed)
    kinds = TableWorld(plan, all_clocks(plan.tables.topology.endpoints.tolist(), 0, 0)[0], slot, (least, most)).kinds
    found: dict[tuple[tuple[int, Clock], ...], set[Reached]] = {}
    for text in printed:
        now, clocks, entries, counted, flying = parse_value(text)
        by = tuple((node, (start, longer)) for node, start, longer in sorted(clocks))
        found.setdefault(by, set()).add(reached(plan, kinds, now, dict(entries), dict(counted), flying))
    return found


def reached(plan, kinds, now, entries, counted, flying) -> Reached:
    """A state of the TLA+ module as one of the symbolic machine; programs are in the order of slots and rows."""
    tables, fired = plan.tables, [0] * len(plan.tables.node)
    rows = {node: [row for row in range(len(fired)) if tables.node[row] == node] for node in entries}
    for node, number in entries.items():
        program = sorted((tables.step[row] + i * plan.period, row) for row in rows[node] for i in range(plan.repeats))
        for _, row in program[:number]:
            fired[row] += 1
    told = {(sums, flow, src, node): times for node, of in counted.items() for sums, flow, src, times in of}
    count = tuple(told[kind.reduces, kind.flow, kind.src, kind.dst] for kind in kinds)
    number = {(kind.row, kind.dst): index for index, kind in enumerate(kinds)}
    sent = frozenset((number[rows[src][row - 1], dst], i, tick) for src, row, i, dst, tick in flying)
    return Reached(now, tuple(fired), count, sent)


def compare(case, without="") -> bool:
    """Whether both have the same states, for all clocks; with a part left out, or nothing."""
    plan, slot, reduction = planned(case)
    found = by_tlc(case)
    clocks = all_clocks(plan.tables.topology.endpoints.tolist(), case[4], case[5])
    assert {tuple(sorted(by.items())) for by in clocks} == set(found)
    for by in clocks:
        right = found[tuple(sorted(by.items()))]
        explorer = Explorer(TableWorld(plan, by, slot, reduction), without, 2 * len(right))
        states = explorer.states()
        if states != right:
            return False
        if not without:
            assert explorer.world.truth(explorer.machine.rules())
            assert all(map(explorer.holds, states))
    return True


@pytest.mark.parametrize("case", SMALL, ids=lambda case: "-".join(map(str, case)))
def test_the_same_states(case):
    assert compare(case)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_left_out_makes_other_states(part):
    assert not compare(SMALL[part == "guard Counter"], part)  # a bit is a counter where there is one iteration
