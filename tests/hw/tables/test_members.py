"""Tables of collectives of some endpoints only: others pass chunks on; to files and back, and in every engine."""

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import strategies as st

from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, ROW_COLUMNS, Profile
from certree.models.tables.table_memory import layout
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.hw.runs import agree, machines, on_lanes, on_routers, same_in_both
from tests.hw.tables.test_counted import arrivals_of, rows_of
from tests.hw.tables.test_forged_tables import remanifest
from tests.hw.trees import MULTITREE
from tests.verify.build import build
from tests.verify.moved import drawn_among_members


def among(kind: str, members: tuple[int, ...], text: str, **fields: object) -> Tables:
    """The tables of transfers among some endpoints of a line of three."""
    return lower(build("mesh:1x3", Collective(CollectiveKind(kind), None, members), text, **fields), 64, MULTITREE)


ENDS = among("all-reduce", (0, 2), "0>1; 1+2; 2>1; 1>0")


def test_a_stranger_passes_on_by_hand() -> None:
    """Node 1 holds nothing at the start: what comes first is a copy, and its cell is written like any other."""
    assert (ENDS.profile, ENDS.members.tolist()) == (Profile.BUFFERS, [0, 2])
    assert rows_of(ENDS, 1) == [("REDUCE", 0, 1, [2], 1, 0), ("GATHER", 0, 2, [0], 3, 0)]
    assert arrivals_of(ENDS, 1) == [(0, 2, 0)]


def test_blocks_are_shared_out_among_members() -> None:
    """Two blocks of 2 granules: the first area ends at granule 4, the second at 8, where what passes node 1 goes."""
    tables = among("all-to-all", (0, 2), "0>1; 1>2 1:2>1; 1:1>0", roots=[0, 2], targets=[2, 0])
    assert tables.profile is Profile.BLOCKS
    assert layout(tables).work_base == 8
    assert rows_of(tables, 0) == [("GATHER", 0, 0, [1], 0, 2)]
    assert arrivals_of(tables, 1) == [(0, 1, 8), (1, 1, 10)]
    assert arrivals_of(tables, 2) == [(0, 1, 4)]


@given_at_least(5, rngs, st.integers(1, 2000), machines())
@examples(20)
def test_drawn_schedules_are_exported_verified_and_run(rng: Random, size: int, machine: Machine) -> bool:
    schedule = drawn_among_members(rng)
    tables = lower(schedule, size, machine)
    verdict = verify_tables(tables)
    assert verdict.valid, verdict.violations
    with TemporaryDirectory() as folder:
        export_tables(tables, Path(folder) / "t", rng.choice(("readmemh", "json")))
        back = read_tables(Path(folder) / "t")
    assert back.collective == schedule.collective
    assert back.schedule.digest == schedule.digest == tables.schedule_digest
    for name in (*ROW_COLUMNS, *ARRIVAL_COLUMNS):
        ours, theirs = getattr(tables, name), getattr(back, name)
        assert np.array_equal(ours[:, : theirs.shape[1]] if name == "children" else ours, theirs), name
    result = same_in_both(back)
    assert (result.late, result.contention_cycles, result.data_ok, result.deadlock) == (0, 0, True, ())
    assert result.cycles == result.closed_form_cycles
    assert result.messages == schedule.transfers
    plan = on_lanes(SimulatedSchedule.of(schedule, size, machine))
    assert (plan.cycles, plan.data_ok, plan.messages) == (result.cycles, True, result.messages)
    return bool(set(schedule.dst.tolist()) - set(tables.members.tolist()))


@given_at_least(2, rngs, st.integers(1, 100), machines(), st.integers(1, 4))
@examples(12)
def test_the_core_agrees_with_the_reference(rng: Random, size: int, machine: Machine, hurry: int) -> bool:
    tables = lower(drawn_among_members(rng), size, machine)
    agree(replace(tables, slot_cycles=max(1, tables.slot_cycles // hurry)), "slotted")
    return hurry == 1


def test_through_routers() -> None:
    for result in (on_routers(ENDS), run(ENDS)):
        assert (result.data_ok, result.late, result.cycles) == (True, 0, run(ENDS).closed_form_cycles)


def test_a_stranger_left_out_changes_the_sum() -> None:
    """The data are counted: without the copy that comes first, what a stranger held would be in the sum."""
    other = replace(ENDS, op=np.where(ENDS.node == 0, 1, ENDS.op))  # REDUCE in place of the first copy
    assert not run(other).data_ok
    assert {violation.rule for violation in verify_tables(other).violations} >= {"not-held", "digest"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"members": [0]}, r"manifest.json: 1 member\(s\); allowed: 2 or more"),
        ({"members": [0, 7]}, "member 7 is not an endpoint of"),
        ({"members": [0, 1, 2]}, "members are all endpoints; such a manifest names none"),
        ({"members": [0, 1]}, "execute a schedule other than that of the digest"),
        ({"members": 3}, "members is 3; expected a list"),
        ({"members": ["0", 2]}, "member '0': expected the id of an endpoint"),
    ],
)
def test_manifests_with_other_members(fields: dict[str, object], reason: str, tmp_path: Path) -> None:
    export_tables(ENDS, tmp_path / "t")
    remanifest(tmp_path / "t", **fields)
    with pytest.raises(TableFormatError, match=reason):
        read_tables(tmp_path / "t")


def test_owners_are_members() -> None:
    with pytest.raises(TableFormatError, match="chunk_root row 0: node 1 is not a member"):
        replace(among("all-gather", (0, 2), "0>1; 1>2 1:2>1; 1:1>0", roots=[0, 2]), chunk_root=np.array([1, 2]))
