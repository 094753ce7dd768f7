"""Rings and trees of NCCL: what its graph dumps and the lines of logs say, on one box and on several."""

import re
from pathlib import Path
from random import Random

import pytest

import certree.api as ct
from certree.extras.clusters.running.artefacts import GraphDump, Log, Running
from certree.extras.clusters.running.channels import Channels
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from tests.extras.clusters.imports.test_edits import EDITS, edited

FILES = Path(__file__).parent / "files"
KINDS: dict[str, Running] = {"graphs.xml": GraphDump(), "nccl.log": Log(), "rccl.log": Log()}


def test_one_box(tmp_path: Path) -> None:
    """GPUs are numbered in base 10, or as recent versions do it in base 16 with the host in front."""
    (tmp_path / "graphs.xml").write_text(
        re.sub('gpu dev="([123])"', r'gpu dev="0x100000000000000\1"', (FILES / "graphs.xml").read_text())
    )
    for found in (ct.load(FILES / "graphs.xml"), ct.load(tmp_path / "graphs.xml")):
        assert found.rings == ((0, 1, 3, 2), (2, 3, 1, 0))
        assert found.trees == ((-1, 0, 3, 1),)


def test_three_boxes() -> None:
    """Rings go from box to box; the trees of boxes are those of `ncclGetDtree`, an odd number of boxes moved on by one."""
    found = ct.load(FILES / "graphs.xml", topology="switch:12")
    assert found.rings[0] == (0, 1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10)
    first, second = found.trees
    inside = {box * 4 + gpu: box * 4 + above for box in range(3) for gpu, above in ((1, 0), (3, 1), (2, 3))}
    # box 0 is above 2, which is above 1; 1 is the first child, below the second rank of its chain
    assert first == tuple({0: -1, 8: 0, 4: 9}.get(rank, inside.get(rank)) for rank in range(12))
    # box 1 is above 0, which is above 2
    assert second == tuple({4: -1, 0: 4, 8: 1}.get(rank, inside.get(rank)) for rank in range(12))


def test_patterns(tmp_path: Path) -> None:
    """A second child hangs below the first rank of a chain, or with split trees below the second one."""
    text = (FILES / "graphs.xml").read_text()
    for pattern, above in ((1, 0), (2, 1), (3, 0)):
        (tmp_path / "graphs.xml").write_text(text.replace('pattern="1"', f'pattern="{pattern}"'))
        assert ct.load(tmp_path / "graphs.xml", topology="switch:8").trees[0][4] == above


def test_logs() -> None:
    found = ct.load(FILES / "nccl.log")
    assert found == Channels(((0, 1, 2, 3), (0, 3, 1, 2)), ((-1, 0, 1, 2), (1, -1, 3, 1)))
    assert ct.load(FILES / "rccl.log") == Channels(((0, 1, 2),), ((-1, 0, 1),))


def test_part_of_a_log(tmp_path: Path) -> None:
    """The log of one process has whole rings, and not all trees."""
    lines = (FILES / "nccl.log").read_text().splitlines()
    (tmp_path / "first").write_text("\n".join(line for line in lines if ":123:" in line))
    assert ct.load(tmp_path / "first").trees == ()
    with pytest.raises(InputError, match="there is no Trees line of rank 1 and 2 more"):
        ct.verify(f"{tmp_path / 'first'}:tree", topology="switch:4")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Ring 00 : 2 -> 0 -> 1", "Ring 00 : 2 -> 0 -> 1 1", "left out: Ring lines, as there is no Ring line of rank 0 (line "),
        ("Channel 00/01 : ", "Channel 00/01 : 0x", "left out: Ring lines (line "),
    ],
)
def test_damaged_lines_that_others_make_up_for(tmp_path: Path, old: str, new: str, told: str) -> None:
    text = "Channel 00/01 : 0 1 2\n" + (FILES / "rccl.log").read_text()
    assert old in text
    (tmp_path / "rccl.log").write_text(text.replace(old, new, 1))
    found = ct.load(tmp_path / "rccl.log")
    assert found.rings == ((0, 1, 2),)
    assert found.told[0].startswith(told)


def test_several_communicators(tmp_path: Path) -> None:
    """The network says which communicator is meant where they have different numbers of ranks; what lines are left out is told."""
    pair = "INFO Channel 00/01 :    0   1\nINFO Trees [0] 1/-1/-1->0->-1\nINFO Trees [0] -1/-1/-1->1->0\n"
    (tmp_path / "job.log").write_text((FILES / "nccl.log").read_text() + pair)
    found = ct.load(tmp_path / "job.log", topology="switch:4")
    assert found == Channels(((0, 1, 2, 3), (0, 3, 1, 2)), (), {"tree": "there is no Trees line of rank 1 and 2 more"})
    assert found.told[0] == "the log is of communicators of 2 and 4 ranks; taken is that of 4"
    assert ct.load(tmp_path / "job.log", topology="ring:2").rings == ((0, 1),)
    for network, words in ((None, ""), ("switch:6", " and the network has 6 endpoints")):
        with pytest.raises(
            InputError, match=f"the log has 3 communicators{words}; name one as FILE:NUMBER: 1: 4 ranks, 2 channels"
        ):
            ct.load(tmp_path / "job.log", topology=network)


def test_job() -> None:
    """Several communicators of a job by the names of processes and commId, with mixed lines; a number says which one is meant."""
    world = ct.load(f"{FILES / 'job.log'}:1")
    assert world == Channels(((0, 1, 2, 3), (0, 3, 2, 1)), ((-1, 0, 0, 2), (2, 0, -1, 2)))
    pairs = ct.load(FILES / "job.log", topology="ring:2")
    assert pairs == Channels(((0, 1),), ((-1, 0),))
    again = ct.load(f"{FILES / 'job.log'}:3")
    assert again.rings == ((0, 2, 1, 3),)
    assert again.told == ("left out: trees, as there is no Trees line of rank 1 and 2 more",)
    with pytest.raises(
        InputError, match=r"has 4 endpoints; name one as FILE:NUMBER: 1: 4 ranks, 2 channels, lines 8 to 14; .*; 3: "
    ):
        ct.verify(FILES / "job.log", topology="full:4")
    assert ct.verify(f"{FILES / 'job.log'}:1:tree", topology="full:4").valid


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("algorithm", ["ring", "tree"])
def test_schedules_are_valid(name: str, algorithm: str) -> None:
    count = 3 if name == "rccl.log" else 4
    for network in (f"switch:{count}", f"full:{count}"):
        made = ct.verify(f"{FILES / name}:{algorithm}", topology=network)
        assert made.valid


def test_the_faster_one() -> None:
    """A file stands for its trees where they are faster, as for short messages between many boxes, and else for its rings."""
    found = {}
    for algorithm in ("", ":ring", ":tree"):
        name = f"{FILES / 'graphs.xml'}{algorithm}"
        cells = ct.compare("switch:32", sizes=["64B", "64MiB"], methods=["ring"], baseline=name, run=None).cells
        assert [cell["method"] for cell in cells] == [name, "ring"] * 2
        found[algorithm] = [cells[0]["time_cycles"], cells[2]["time_cycles"]]
    assert found[""] == [found[":tree"][0], found[":ring"][1]]
    assert found[":tree"][0] < found[":ring"][0]


@pytest.mark.parametrize(("collective", "root"), [("all-gather", None), ("reduce-scatter", None), ("broadcast", 2), ("reduce", 1)])
def test_other_collectives(collective: str, root: int | None) -> None:
    """Rings make them, from and to any root: a chain, in pieces."""
    for name, network in (("nccl.log", "switch:4"), ("graphs.xml", "switch:8")):
        verdict = ct.verify(f"{FILES / name}:ring", topology=network, collective=collective, root=root)
        assert verdict.valid
    with pytest.raises(InputError, match="trees make all-reduce, not"):
        ct.verify(f"{FILES / 'nccl.log'}:tree", topology="switch:4", collective=collective, root=root)


def test_long_messages_do_not_wait() -> None:
    """Two sets of parts take turns, so that a step does not wait for what the one before it sent."""
    cells = ct.compare("switch:4", sizes=["64MiB"], methods=["ring:delay=2"], baseline=f"{FILES / 'nccl.log'}:ring", run=None).cells
    assert cells[0]["time_cycles"] < 1.01 * cells[1]["time_cycles"]


def test_other_network() -> None:
    with pytest.raises(InputError, match="chains of 4 GPUs; the network has 6 endpoints"):
        ct.compare("switch:6", methods=["ring"], baseline=FILES / "graphs.xml")
    with pytest.raises(InputError, match="4 ranks; switch:6 has 6 endpoints"):
        ct.verify(FILES / "nccl.log", topology="switch:6")


REFUSED = (
    ("graphs.xml", 'nchannels="2"', 'nchannels="3"', r"line 2: 2 channels; nchannels is 3"),
    ("graphs.xml", '<gpu dev="3"/>\n      <gpu dev="2"/>\n      <net dev="0"/>', '<net dev="0"/>', "channels of different GPUs"),
    ("graphs.xml", 'pattern="4"', 'pattern="1"', "line 2: graph 0 has pattern 1; expected 4"),
    ("graphs.xml", 'gpu dev="1"', 'gpu dev="0"', "line 3: a GPU is twice in a channel"),
    ("nccl.log", "0   1   2   3", "0   1   2   2", "line 2: a ring of 4 ranks"),
    ("nccl.log", "Channel 01/02", "Channel 00/02", "name one as FILE:NUMBER: 1: 4 ranks, channels 0 have Ring lines"),
    ("nccl.log", "0/3/-1->1->-1", "0/2/-1->1->-1", r"tree 1: rank 1 has below it \[0, 2\], and ranks \[0, 3\]"),
    ("rccl.log", "0 -> 1 -> 2", "2 -> 1 -> 0", "rank 0 is between 2 and 1, which do not state it"),
)


@pytest.mark.parametrize(("name", "before", "after", "expected"), REFUSED)
def test_refused(tmp_path: Path, name: str, before: str, after: str, expected: str) -> None:
    text = (FILES / name).read_text()
    assert before in text
    (tmp_path / name).write_text(text.replace(before, after, 1))
    with pytest.raises(InputError, match=expected):
        ct.load(tmp_path / name)


#: of each file what has no meaning for rings and trees
IGNORED = {
    "graphs.xml": r"version=\S+|crossnic.*|<net.*|<graph id=.3.*",
    "nccl.log": r"^.*INFO|Connected.*|NCCL version.*|.* via .*",
    "rccl.log": r"(?<=Ring )00|comm \S+|busId \S+",
}


@pytest.mark.parametrize("name", KINDS)
def test_no_edit_is_overlooked(tmp_path: Path, name: str) -> None:
    file, text, rng, kind = tmp_path / name, (FILES / name).read_text(), Random(name), KINDS[name]
    endpoints = 8 if name == "graphs.xml" else None

    def reading() -> Channels | str:
        try:
            return kind.read(Opened(file), endpoints)
        except InputError as error:
            return str(error)

    file.write_text(text)
    right, refused = reading(), 0
    assert isinstance(right, Channels)
    for _ in range(EDITS):
        wrong, what = edited(text, IGNORED[name], rng)
        file.write_text(wrong)
        came = reading()
        assert came != right, what
        if isinstance(came, str):
            refused += 1
            assert "\n" not in came, what
        else:
            refused += len(came.missing) > len(right.missing)
    assert refused > EDITS // 2
