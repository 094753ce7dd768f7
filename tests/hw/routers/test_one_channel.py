"""One virtual channel: a head is routed only when the tail before it has left, as the table of `docs/explanation/routers.md` says.

By hand, two messages of two flits each over two links, with routers of three cycles: one for the virtual channel (VC), one for the
switch, one for the traversal. The interface sends in cycles 0 to 3. At the first router:

    head A there at 2, VC in 2, switch in 3; tail A there at 3, switch in 4: from 5 on its VC is free, and B is in front
    head B there at 4, VC in 5, switch in 6, where the closed form (a flit in each cycle) has 5

Later routers get B three cycles behind A, which adds nothing. Each further message is another cycle late. With two VCs, B is in
front of its own when it comes: VC in 4, switch in 5.
"""

from dataclasses import replace

import numpy as np
import pytest

from certree.api.reports.run_report import holds, left_out
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import agreement_of_tables
from tests.hw.runs import on_routers
from tests.hw.trees import MULTITREE
from tests.verify.build import COPY, build

USED_UP = "1 virtual channels are used up before the pipeline has routed the next packet"
HEAD = 1 + 2 * 1 + 3 * 3 + 2 * 150  # cycles of a head over two links: interfaces, three routers, links


def behind_each_other(channels: int, messages: int) -> Tables:
    """Messages from node 0 to node 2, in slots of two cycles from cycle 100 on; those to node 1 have passed before."""
    rows = [(chunk, COPY, 9 * chunk, 0, 1) for chunk in range(messages)] + [
        (chunk, COPY, 50 + chunk, 0, 2) for chunk in range(messages)
    ]
    routes = [-1] * messages + [0] * messages
    schedule = build("mesh:3", "broadcast", rows, route=routes, routes=((0, 2),), collective_root=0, delay=200)
    tables = lower(schedule, 16 * messages, replace(MULTITREE, vc_count=channels))
    assert (tables.slot_cycles, tables.chunk_bytes) == (2, 16)
    return tables


@pytest.mark.parametrize("messages", [1, 2, 3, 5])
@pytest.mark.parametrize("channels", [1, 2])
def test_each_message_is_a_cycle_later_than_the_one_before(channels: int, messages: int) -> None:
    tables = behind_each_other(channels, messages)
    expected = 100 + 2 * messages - 1 + HEAD
    result, effect = on_routers(tables), USED_UP if channels == 1 else None
    assert result.closed_form_cycles == expected
    assert result.cycles == expected + (messages - 1 if channels == 1 else 0)
    assert (result.router_effect, agreement_of_tables(tables)) == (effect, effect)


@pytest.mark.parametrize(("channels", "flits", "is_late"), [(8, 4, True), (6, 4, True), (8, 12, False), (4, 12, False)])
def test_channels_of_two_layers_come_again_after_two_messages(channels: int, flits: int, *, is_late: bool) -> None:
    """An output gives its channels away in turn: of messages of two layers, one after the other, each gets the first of its own."""
    rows = [(chunk, COPY, chunk, 0, 1) for chunk in range(40)]
    routes = ((0, 3), (0, 3))
    schedule = build(
        "switch:2", "broadcast", rows, route=[chunk % 2 for chunk in range(40)], routes=routes, collective_root=0, delay=100
    )
    machine = replace(MULTITREE, vc_count=channels, router_cycles=8, head_flits=0, vc_buffer_flits=4096)
    tables = lower(replace(schedule, virtual_channel=np.array([0, 1], np.int32)), 40 * 16 * flits, machine)
    result = on_routers(tables)
    assert (result.cycles > result.closed_form_cycles) == is_late
    effect = "2 virtual channels are used up before the pipeline has routed the next packet" if is_late else None
    assert agreement_of_tables(tables) == effect


def test_runs_pass_with_no_more_than_the_closed_form_leaves_out() -> None:
    """Contention of messages whose slots are too short is a failure where routers add nothing, as are late rows of clocks."""
    one, two = (behind_each_other(channels, 5) for channels in (1, 2))
    assert [left_out(run(tables)) for tables in (one, two)] == [True, False]
    assert all(holds(run(tables)) for tables in (one, two))
    hasty = replace(two, slot_cycles=1)
    assert not holds(run(hasty))
    assert not holds(on_routers(hasty))
    assert not holds(replace(run(one), data_ok=False))
    assert not holds(replace(run(one), closed_form_cycles=None, late=1))
