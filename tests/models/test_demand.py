"""Demands: matrices and files of bytes, what is refused, and schedules that carry one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from certree.models.common.errors import InputError, ScheduleFormatError, UnsupportedError
from certree.models.demand import Demand, demand_of_bytes, load_demand
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, parse_collective
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.models.schedule.schedule_file import (
    load_schedule,
    save_schedule,
    schedule_document,
    schedule_from_document,
)
from tests.models.test_schemas import validator
from tests.verify.build import build

RING = parse_topology("ring:3")
DEMAND = Demand(((1, 2, 3), (0, 1, 5)))
SOME = parse_collective("alltoallv", demand=DEMAND)
MADE = build(RING, SOME, "0>1 1:1>2", roots=[0, 1], targets=[1, 2], chunk_granules=[5, 3], rounds=[5])


def test_blocks_are_in_order():
    assert DEMAND.blocks == ((0, 1, 5), (1, 2, 3))
    assert DEMAND.granules == 8
    assert (SOME.name, SOME.words, SOME.kind) == ("alltoallv", "alltoallv of 2 blocks", "all-to-all")
    assert replace(SOME, demand=Demand(((0, 1, 5),))).words == "alltoallv of 1 block"


def test_bytes_become_granules():
    """Padded up; what an endpoint has for itself does not count; lines are endpoints, whatever their ids."""
    demand = demand_of_bytes([[9, 1, 0], [0, 0, 16], [17, 0, 0]], RING, 16)
    assert demand.blocks == ((0, 1, 1), (1, 2, 1), (2, 0, 2))
    assert demand_of_bytes(np.array([[9, 1, 0], [0, 0, 16], [17, 0, 0]]), RING, 16) == demand
    gap = parse_topology("ring:4,without-node=1")
    assert demand_of_bytes([[0, 0, 5], [0, 0, 0], [0, 0, 0]], gap, 1).blocks == ((0, 3, 5),)


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ((), "demand: 0 blocks; allowed: 1 to"),
        (((0, 0, 1),), "demand from 0 to 0; allowed: each ordered pair of different endpoints once"),
        (((0, 1, 1), (0, 1, 2)), "demand from 0 to 1; allowed: each ordered pair of different endpoints once"),
        (((0, -1, 1),), "demand from 0 to -1"),
        (((0, 1, 0),), "demand from 0 to 1: 0 granules; allowed: 1 or more"),
        (((0, 1, True),), "allowed: whole numbers"),
        (((0, 1, 1 << 30), (1, 0, 1)), "demand: 1073741825 granules; allowed: up to 1073741824 in all"),
    ],
)
def test_wrong_blocks(blocks, reason):
    with pytest.raises(InputError) as caught:
        Demand(blocks)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("amounts", "reason"),
    [
        ([[0, 1], [1, 0]], "demand: 2 rows of up to 2 entries; ring:3 has 3 endpoints"),
        ([[0, 1, 1], [1, 0], [0, 0, 0]], "demand: 3 rows of up to 3 entries"),
        ([[0, 1, 1], [1, 0, 0.5], [0, 0, 0]], "demand: row 1, column 2: 0.5; allowed: whole bytes from 0 to"),
        ([[0, 1, 1], [-1, 0, 0], [0, 0, 0]], "demand: row 1, column 0: -1"),
        ([[7, 0, 0], [0, 7, 0], [0, 0, 7]], "demand: 0 blocks"),
    ],
)
def test_wrong_matrices(amounts, reason):
    with pytest.raises(InputError) as caught:
        demand_of_bytes(amounts, RING, 16)
    assert reason in str(caught.value)


def test_csv(tmp_path):
    file = tmp_path / "bytes.csv"
    file.write_text("0, 80,\n,0,48\n,,\n")
    assert load_demand(file, RING, 16) == DEMAND


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0,1,2\n0,0,0\n", ": 2 rows; allowed: 3, one for each endpoint of ring:3"),
        ("0,1,2\n0,0\n0,0,0\n", ": row 2: 2 cells; allowed: 3, one for each endpoint"),
        ("0,1,2\n0,0,x\n0,0,0\n", ": row 2, column 3: 'x'; allowed: whole bytes from 0 to 1125899906842624, or nothing"),
        ("0,1,2\n0,0,-1\n0,0,0\n", ": row 2, column 3: '-1'; allowed"),
        ("0,1,2\n0,0,1.5\n0,0,0\n", ": row 2, column 3: '1.5'; allowed"),
        ("0,0,0\n0,0,0\n0,0,0\n", ": demand: 0 blocks"),
        ("\xff", " is not CSV"),
    ],
)
def test_wrong_csv(tmp_path, text, reason):
    file = tmp_path / "bytes.csv"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        load_demand(file, RING, 16)
    assert str(caught.value).startswith(f"{file}{reason}")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: parse_collective("alltoallv"), "alltoallv needs a demand"),
        (lambda: parse_collective("all-to-all", demand=DEMAND), "a demand is for alltoallv, not for all-to-all"),
        (lambda: Collective("all-gather", demand=DEMAND), "a demand is for an all-to-all of all endpoints: all-gather has none"),
        (lambda: parse_collective("alltoallv", members=[0, 1], demand=DEMAND), "members follow from it"),
        (
            lambda: SOME.require_fits(parse_topology("switch:2")),
            "demand: node 2 is not an endpoint of switch:2; endpoints are in 0 to 1",
        ),
    ],
)
def test_wrong_collectives(make, reason):
    with pytest.raises(InputError) as caught:
        make()
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.npz"])
def test_round_trip(tmp_path, name):
    save_schedule(MADE, tmp_path / name)
    again = load_schedule(tmp_path / name)
    assert (again.digest, again.collective, again.chunk_granules.tolist()) == (MADE.digest, SOME, [5, 3])
    document = schedule_document(MADE)
    assert (document["version"], document["collective"]["kind"], document["chunks"]["granules"]) == (2, "alltoallv", [5, 3])
    validator("schedule").validate(document)


def test_sizes_and_demand_are_part_of_the_digest():
    sizes = replace(MADE, chunk_granules=[3, 5])
    other = replace(MADE, collective=parse_collective("alltoallv", demand=Demand(((0, 1, 5), (1, 2, 4)))))
    assert len({MADE.digest, sizes.digest, other.digest}) == 3


COLUMNS = {"src": [0, 1], "dst": [1, 2], "granules": [5, 3]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 1}, "unknown field 'demand'"),
        ({"collective": {"kind": "alltoallv", "root": None}}, "collective: alltoallv needs a demand"),
        ({"collective": {"kind": "all-to-all", "root": None, "demand": COLUMNS}}, "a demand is for alltoallv, not for all-to-all"),
        ({"collective": {"kind": "alltoallv", "root": None, "demand": COLUMNS | {"dst": [1, 1]}}}, "demand from 1 to 1"),
        ({"collective": {"kind": "alltoallv", "root": None, "demand": COLUMNS | {"dst": [1]}}}, "dst has 1 rows; expected 2"),
        ({"collective": {"kind": "all-to-all", "root": None}}, "unknown field 'granules'"),
        ({"chunks": {"root": [0, 1], "target": [1, 2]}}, "granules is missing"),
        ({"chunks": {"root": [0, 1], "target": [1, 2], "granules": [5, 0]}}, "granules row 1: 0; allowed: 1 to 1073741824"),
        ({"chunks": {"root": [0, 1], "target": [1, 2], "granules": [5]}}, "chunks.granules has 1 rows; chunks.root has 2"),
        ({"period": 1, "rounds": [1]}, "period is 1; a schedule with a demand does not repeat"),
    ],
)
def test_wrong_documents(change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        schedule_from_document(json.loads(json.dumps({**schedule_document(MADE), **change})), "s.json")
    assert reason in str(caught.value)


def test_sizes_need_a_demand():
    with pytest.raises(ScheduleFormatError, match=r"chunks.granules is given; chunks have sizes in a schedule with a demand"):
        build(RING, "all-to-all", "0>1", roots=[0], targets=[1], chunk_granules=[1])


def test_a_csv_does_not_say_sizes(tmp_path):
    with pytest.raises(UnsupportedError, match="a CSV does not say the sizes of chunks: not supported for alltoallv"):
        load_schedule_csv(tmp_path / "s.csv", RING, SOME)


def test_the_message_is_all_of_it():
    assert (MADE.message_chunks, MADE.bandwidth_time, MADE.version_2_fields) == (8, 5 / 8, ("demand",))
