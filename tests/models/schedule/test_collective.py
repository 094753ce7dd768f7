"""The eight collectives: what they are called, what they need, how their schedules are checked, kept and cut into chunks."""

from fractions import Fraction

import pytest

from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import (
    SYMMETRIC_KINDS,
    WITH_ONE_ROOT,
    WITH_TARGETS,
    Collective,
    CollectiveKind,
    parse_collective,
)
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.models.schedule.schedule_file import (
    load_schedule,
    save_schedule,
    schedule_document,
    schedule_from_document,
)
from certree.models.schedule.timing import slot_timing
from certree.synth.method import Request
from tests.models.examples import pair_all_reduce, ring_all_gather, schedule
from tests.models.test_schemas import validator

COPY = 1


def collective(kind, root=0):
    """Any of the eight; with that root where it has one."""
    return Collective(kind, root if kind in WITH_ONE_ROOT else None)


def straight(kind, nodes=3, root=0, each=1, spec=None):
    """On a full network every chunk goes straight to where it is due: all chunks of all blocks in one step."""
    topology, what = parse_topology(spec or f"full:{nodes}"), collective(kind, root)
    blocks = nodes * (nodes - 1) if kind == "all-to-all" else nodes - 1
    roots, targets = chunk_owners(topology, what, blocks * each)
    rows = [(number, COPY, number // blocks, *ends) for number, ends in enumerate(zip(roots, targets, strict=True))]
    return schedule(topology, what, roots, rows, chunk_target=targets)


def test_kinds():
    names = ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce", "gather", "scatter"]
    assert [str(kind) for kind in CollectiveKind] == names
    assert [collective(kind).is_rooted for kind in CollectiveKind] == [False] + [True] * 7
    assert [kind for kind in CollectiveKind if collective(kind).reduces] == ["all-reduce", "reduce-scatter", "reduce"]
    assert [kind for kind in CollectiveKind if collective(kind).gathers] == ["all-reduce", "all-gather", "broadcast"]
    assert (
        [kind for kind in CollectiveKind if collective(kind).has_targets] == ["all-to-all", "gather", "scatter"] == [*WITH_TARGETS]
    )
    assert [kind for kind in CollectiveKind if collective(kind).has_one_root] == [*WITH_ONE_ROOT] == names[4:]
    assert [*SYMMETRIC_KINDS] == names[:3]


def test_words():
    assert [collective(kind, 5).words for kind in CollectiveKind] == [
        "all-reduce", "reduce-scatter", "all-gather", "all-to-all",
        "broadcast from node 5", "reduce to node 5", "gather to node 5", "scatter from node 5",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", CollectiveKind)
def test_a_root_is_needed_or_refused(kind):
    if kind in WITH_ONE_ROOT:
        assert parse_collective(kind, 3).root == 3
        with pytest.raises(InputError, match=f"{kind} needs a root: the id of an endpoint"):
            parse_collective(kind)
        for root in (-1, True, "3"):
            with pytest.raises(InputError, match="expected the id of an endpoint"):
                Collective(kind, root)
    else:
        with pytest.raises(InputError, match=f"{kind} has no single root; root 3 does not apply"):
            parse_collective(kind, 3)


@pytest.mark.parametrize("root", [4, 7, 1 << 40])
def test_the_root_is_an_endpoint(root):
    topology = parse_topology("ring:6,without-node=4")
    with pytest.raises(InputError, match=f"root {root} is not an endpoint of ring:6,without-node=4; endpoints are in 0 to 5"):
        Request(topology, parse_collective("broadcast", root), 1024, load_machine("multitree"))


@pytest.mark.parametrize(
    ("kind", "roots", "targets"),
    [
        ("all-to-all", [0, 0, 2, 2, 3, 3] * 2, [2, 3, 0, 3, 0, 2] * 2),
        ("broadcast", [2] * 6, None),
        ("reduce", [2] * 6, None),
        ("gather", [0, 3] * 3, [2] * 6),
        ("scatter", [2] * 6, [0, 3] * 3),
        ("all-gather", [0, 2, 3] * 2, None),
        ("all-reduce", [-1] * 6, None),
    ],
)
def test_owners_of_chunks(kind, roots, targets):
    """Absent ids are not endpoints."""
    root, target = chunk_owners(parse_topology("full:4,without-node=1"), collective(kind, 2), len(roots))
    assert root.tolist() == roots
    assert (target if target is None else target.tolist()) == targets


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("all-to-all", "5 chunks; all-to-all needs a multiple of the 6 ordered pairs"),
        ("gather", "5 chunks; gather needs a multiple of the 2 endpoints without the root"),
        ("reduce-scatter", "5 chunks; reduce-scatter needs a multiple of the 3 endpoints"),
    ],
)
def test_chunks_that_do_not_divide(kind, reason):
    with pytest.raises(InputError, match=reason):
        chunk_owners(parse_topology("full:3"), collective(kind, 2), 5)


@pytest.mark.parametrize("kind", WITH_TARGETS)
def test_the_message_counts_the_block_that_stays(kind):
    """The message is one endpoint's buffer, N blocks: one block of each pair in one round is 1/N of it."""
    assert straight(kind, 4).message_chunks == 4
    assert straight(kind, 4).bandwidth_time == Fraction(1, 4)
    twice = straight(kind, 4, each=2)
    assert (twice.message_chunks, twice.bandwidth_time) == (8, Fraction(1, 4))
    timing = slot_timing(twice, 8 * 160, load_machine("multitree"))
    assert (timing.chunk_bytes, timing.padded_bytes) == (160, 8 * 160)


def test_other_messages_are_their_chunks():
    assert ring_all_gather(4).message_chunks == 4
    assert pair_all_reduce().message_chunks == 1


@pytest.mark.parametrize("kind", WITH_TARGETS)
@pytest.mark.parametrize("name", ["s.json", "s.npz"])
def test_targets_in_files(tmp_path, kind, name):
    made = straight(kind)
    save_schedule(made, tmp_path / name)
    again = load_schedule(tmp_path / name)
    assert again.collective == made.collective
    assert again.chunk_target.tolist() == made.chunk_target.tolist()
    assert again.digest == made.digest
    validator("schedule").validate(schedule_document(made))
    document = schedule_document(made)
    document["chunks"]["target"][0], document["chunks"]["root"][0] = document["chunks"]["root"][0], document["chunks"]["target"][0]
    if kind == "all-to-all":
        assert schedule_from_document(document, "swapped").digest != made.digest
    else:
        with pytest.raises(ScheduleFormatError, match=r"row 0: 1; allowed: 0 in a (gather to|scatter from) node 0"):
            schedule_from_document(document, "swapped")


def test_digests_of_the_first_three_collectives_have_not_changed():
    """Tables and certificates that exist name schedules by these."""
    assert pair_all_reduce().digest == "328341efb1a95887c1bb88212a99591ef1e3149d736bcc52344657e32f13f8e2"
    assert ring_all_gather(4).digest == "1c37d4a991d08b5ead8401207ff2eeec5cec1b418b11894d76cd4c8e493c8689"


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("gather", {"chunk_target": None}, "chunks.target is missing; every chunk has one in an all-to-all, gather, scatter"),
        ("gather", {"chunk_target": [0]}, "chunks.target has 1 rows; chunks.root has 2"),
        ("gather", {"chunk_target": [0, 1]}, "chunks.target row 1: 1; allowed: 0 in a gather to node 0"),
        ("scatter", {"chunk_root": [0, 1]}, "chunks.root row 1: 1; allowed: 0 in a scatter from node 0"),
        ("all-to-all", {"chunk_target": [1, 2, 0, 2, 0, 3]}, "chunks.target row 5: 3; allowed: the id of an endpoint"),
        ("all-to-all", {"chunk_target": [1, 2, 0, 2, 0, -1]}, "chunks.target row 5: -1; allowed: the id of an endpoint"),
    ],
)
def test_constructor_refuses(kind, change, reason):
    made = straight(kind)
    fields = {"chunk_root": made.chunk_root, "chunk_target": made.chunk_target} | change
    columns = {name: getattr(made, name) for name in ("chunk", "op", "step", "src", "dst")}
    with pytest.raises(ScheduleFormatError) as caught:
        make_schedule(made.topology, made.collective, fields["chunk_root"], columns, fields["chunk_target"])
    assert reason in str(caught.value)


def test_only_these_have_targets():
    with pytest.raises(ScheduleFormatError, match=r"chunks[.]target is given"):
        pair_all_reduce(chunk_target=[0])


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_all_chunks_of_one_root(kind):
    with pytest.raises(ScheduleFormatError, match=r"chunks[.]root row 1: 0; allowed: 1 in a (broadcast from|reduce to) node 1"):
        schedule("ring:3", Collective(kind, 1), [1, 0], "0>1")
    with pytest.raises(ScheduleFormatError, match=r"collective[.]root 3 is not an endpoint of ring:3"):
        schedule("ring:3", Collective(kind, 3), [3], "0>1")


def test_csv(tmp_path):
    (tmp_path / "s.csv").write_text("chunk,op,src,dst,step\n0,copy,1,0,0\n1,copy,2,0,0\n")
    loaded = load_schedule_csv(tmp_path / "s.csv", parse_topology("full:3"), Collective(CollectiveKind.GATHER, 0))
    assert loaded.digest == straight("gather").digest
    with pytest.raises(ScheduleFormatError, match="2 chunks; all-to-all needs a multiple of the 6 ordered pairs"):
        load_schedule_csv(tmp_path / "s.csv", parse_topology("full:3"), parse_collective("all-to-all"))


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        *[("all-reduce", "7/4"), ("reduce-scatter", "7/8"), ("all-gather", "7/8"), ("all-to-all", "7/8")],
        *[("broadcast", "1"), ("reduce", "1"), ("gather", "7/8"), ("scatter", "7/8")],
    ],
)
def test_bus_share(kind: str, share: str) -> None:
    """The factors of busbw in nccl-tests (doc/PERFORMANCE.md), for 8 ranks."""
    root = 0 if kind in WITH_ONE_ROOT else None
    assert Collective(kind, root).bus_share(8) == Fraction(share)
