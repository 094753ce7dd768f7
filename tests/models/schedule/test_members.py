"""Members of a collective: what is allowed, what files say, and what depends on their number."""

import json
from dataclasses import replace

import pytest

from certree.models.common.errors import InputError, ScheduleFormatError, UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, parse_collective, parse_members
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.models.schedule.schedule_file import (
    load_schedule,
    save_schedule,
    schedule_document,
    schedule_from_document,
)
from tests.models.test_schemas import validator
from tests.verify.build import build

SOME = parse_collective("all-reduce", members=[2, 0])
MADE = build("mesh:1x3", SOME, "0>1; 1+2; 2>1; 1>0")


def test_members_are_in_order():
    assert SOME.members == (0, 2)
    assert SOME.words == "all-reduce among nodes 0, 2"
    assert parse_collective("scatter", 4, range(3, 14)).words == "scatter from node 4 among 11 members"


@pytest.mark.parametrize(
    ("kind", "root", "members", "reason"),
    [
        ("all-reduce", None, [3], "1 member(s); allowed: 2 or more"),
        ("all-reduce", None, [], "0 member(s); allowed: 2 or more"),
        ("all-reduce", None, [1, 2, 1], "member 1 is named twice"),
        ("all-reduce", None, [1, -2], "member -2: expected the id of an endpoint"),
        ("all-reduce", None, [1, "2"], "member '2': expected the id of an endpoint"),
        ("all-reduce", None, [1, True], "member True: expected the id of an endpoint"),
        ("broadcast", 0, [1, 2], "root 0 is not a member; members are nodes 1, 2"),
    ],
)
def test_wrong_members(kind, root, members, reason):
    with pytest.raises(InputError) as caught:
        parse_collective(kind, root, members)
    assert str(caught.value) == reason


def test_members_are_endpoints():
    with pytest.raises(InputError, match=r"^member 4 is not an endpoint of switch:4; endpoints are in 0 to 3$"):
        parse_collective("all-reduce", members=[1, 4]).fitted(parse_topology("switch:4"))


def test_all_endpoints_are_nothing_special():
    """Where all are named the collective is that of version 1, and so is the digest."""
    everyone = build("mesh:1x3", parse_collective("all-reduce", members=[0, 1, 2]), "0+1; 1+2; 2>1; 1>0")
    plain = build("mesh:1x3", "all-reduce", "0+1; 1+2; 2>1; 1>0")
    assert (everyone.collective, everyone.digest, everyone.version_2_fields) == (plain.collective, plain.digest, ())
    assert schedule_document(everyone)["version"] == 1
    assert replace(plain, collective=SOME).digest not in (
        plain.digest,
        replace(plain, collective=replace(SOME, members=(0, 1))).digest,
    )


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.npz"])
def test_round_trip(tmp_path, name):
    save_schedule(MADE, tmp_path / name)
    again = load_schedule(tmp_path / name)
    assert (again.digest, again.collective) == (MADE.digest, SOME)
    document = schedule_document(MADE)
    assert (document["version"], document["collective"]) == (2, {"kind": "all-reduce", "root": None, "members": [0, 2]})
    validator("schedule").validate(document)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 1}, "unknown field 'members'"),
        ({"collective": {"kind": "all-reduce", "root": None, "members": None}}, "members is None; expected a list"),
        ({"collective": {"kind": "all-reduce", "root": None, "members": [0]}}, "collective: 1 member(s); allowed: 2 or more"),
        ({"collective": {"kind": "all-reduce", "root": None, "members": [0, 0]}}, "collective: member 0 is named twice"),
        ({"collective": {"kind": "all-reduce", "root": None, "members": [0, 1.0]}}, "member 1.0: expected the id"),
        (
            {"collective": {"kind": "all-reduce", "root": None, "members": [0, 3]}},
            "collective.member 3 is not an endpoint of mesh:1x3",
        ),
        (
            {"collective": {"kind": "all-gather", "root": None, "members": [0, 2]}, "chunks": {"root": [1]}},
            "chunks.root row 0: 1; allowed: the id of a member",
        ),
    ],
)
def test_wrong_documents(change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        schedule_from_document(json.loads(json.dumps({**schedule_document(MADE), **change})), "s.json")
    assert reason in str(caught.value)


def test_a_target_is_a_member():
    with pytest.raises(ScheduleFormatError, match=r"chunks.target row 0: 1; allowed: the id of a member"):
        build("ring:4", Collective("scatter", 0, (0, 2)), "0>1", collective_root=0, roots=[0], targets=[1])


def test_csv(tmp_path):
    (tmp_path / "s.csv").write_text("chunk,op,src,dst,step\n0,copy,0,1,0\n0,reduce,1,2,1\n0,copy,2,1,2\n0,copy,1,0,3\n")
    assert load_schedule_csv(tmp_path / "s.csv", parse_topology("mesh:1x3"), SOME).digest == MADE.digest


@pytest.mark.parametrize(
    ("kind", "root", "owners"),
    [
        ("all-gather", None, ([1, 3, 4, 1, 3, 4], None)),
        ("gather", 3, ([1, 4, 1, 4, 1, 4], [3] * 6)),
        ("all-to-all", None, ([1, 1, 3, 3, 4, 4], [3, 4, 1, 4, 1, 3])),
    ],
)
def test_owners(kind, root, owners):
    collective = parse_collective(kind, root, (1, 3, 4))
    root_of, target_of = chunk_owners(parse_topology("ring:6"), collective, 6)
    assert (root_of.tolist(), None if target_of is None else target_of.tolist()) == owners


def test_the_message_has_a_block_for_each_member():
    blocks = parse_collective("all-to-all", members=(0, 2, 3))
    roots, targets = chunk_owners(parse_topology("ring:6"), blocks, 12)
    made = build("ring:6", blocks, "", roots=roots.tolist(), targets=targets.tolist())
    assert made.message_chunks == 6


def test_lists_of_members():
    assert parse_members("0,2, 4-7") == (0, 2, 4, 5, 6, 7)
    assert parse_members("3-3") == (3,)
    for text in ("", "1,", "a", "1-2-3", "-1", "1.5"):
        with pytest.raises(InputError, match="allowed: ids and ranges of ids, such as 0,2,4-7"):
            parse_members(text)
    for text in ("3-1", "0-1048576"):
        with pytest.raises(InputError, match="allowed: ids below 1048576, the smaller first"):
            parse_members(text)


def test_the_refusal_names_members():
    MADE.require_equal_slots("times")
    with pytest.raises(UnsupportedError, match=r"^tables: not supported for schedules that use members \(version 2\)$"):
        takes("tables").lowered(MADE)
    with pytest.raises(UnsupportedError, match=r"^frontiers: not supported for collectives of some endpoints only \(members\)$"):
        SOME.require_everyone("frontiers")
