"""Lists of collectives of an iteration: all groups of ranks, when they may start, what they wait for; and where ranks are."""

from pathlib import Path
from typing import Any

import pytest

import certree.api as ct
from certree.extras.joint.model.collective_list import load_collectives
from certree.extras.runtimes.model.chakra import Trace, written_chakra
from certree.extras.training.model.placement import placements
from certree.extras.training.model.workload_file import load_workload
from certree.extras.training.run import running
from certree.extras.training.run.settings import parse_group
from certree.models.common.errors import InputError
from tests.cli.running import assert_bad_input, certree
from tests.extras.training.model.test_chakra_trace import backward

SMALL = "transformer:layers=1,width=64,heads=4,sequence=64,tensor=2,data=2"


def test_all_groups_of_ranks_wait_for_what_they_need() -> None:
    run = ct.train(SMALL, "ring:4", method="ring")
    entries = {entry.name: entry for entry in ct.joint_list(run)}
    assert entries["0.projection forward tensor 1"].collective.members == (2, 3)
    assert entries["0.projection weight-gradient data 1"].collective.members == (1, 3)
    assert entries["0.contract forward tensor 0"].after == ("0.projection forward tensor 0",)
    # ranks 1 and 3 are in both groups of tensor, whose sums their gradients need
    assert entries["0.contract weight-gradient data 1"].after == ("0.contract forward tensor 0", "0.contract forward tensor 1")
    free = ct.train(SMALL, "ring:4", method="ring", iterations=1, what_if=["communication=free"])
    assert max(entry.start for entry in entries.values()) <= free.compute_seconds * run.settings.machine.clock_hz + 1
    starts = [entry.start for entry in entries.values()]
    assert starts == sorted(starts)


def test_a_joint_schedule_of_it(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    outcome = certree("train", SMALL, "ring:4", "--method", "ring", "--write-workload", path)
    assert outcome.err.endswith(f"wrote {path}\n")
    run = ct.train(SMALL, "ring:4", method="ring")
    listed = load_collectives(path, ct.topology("ring:4"), run.settings.machine)
    assert list(listed.stated) == ct.joint_list(run)
    again = certree("train", SMALL, "ring:4", "--method", "ring", "--write-workload", path)
    assert_bad_input(again, "w.toml exists")
    assert_bad_input(certree("train", SMALL, "ring:4", "--write-workload", tmp_path / "w.json"), "must end in .toml")


def test_what_has_no_list_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "run_settings", None)
    many = SMALL.replace("layers=1", "layers=80")
    for options, words in (
        ([many], "allowed: 1024; take fewer layers"),
        ([SMALL, "--group", "tensor=ring:2", "--no-overlap"], "group tensor has a network of its own"),
    ):
        refused = certree("train", options[0], "ring:4", *options[1:], "--write-workload", tmp_path / "w.toml")
        assert_bad_input(refused, words)


def test_starts_on_faster_accelerators() -> None:
    """Computing is scaled once."""
    slow, fast = (ct.joint_list(ct.train(SMALL, "ring:4", method="ring", compute=factor)) for factor in (1, 2))
    assert all(2 * one.start - 2 <= other.start <= 2 * one.start for one, other in zip(fast, slow, strict=True))
    assert slow[-1].start > 1000


def test_of_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.et"
    path.write_bytes(written_chakra(Trace(backward())))
    first, second = ct.joint_list(ct.train(path, "ring:4", method="ring"))
    assert (first.size, first.start, second.start, second.after) == (1 << 20, 300_000, 800_000, ())
    ct.save_collectives([first, second], tmp_path / "w.toml")
    made = ct.joint("ring:3", tmp_path / "w.toml")
    assert [part.first >= part.entry.start for part in made.parts] == [True, True]


def test_micro_batches_have_names_of_their_own() -> None:
    run = ct.train(f"{SMALL},batch=2,micro_batches=2", "ring:4", method="ring")
    names = [entry.name for entry in ct.joint_list(run)]
    assert len(set(names)) == len(names)
    assert "0.projection forward 2 tensor 1" in names


def test_ranks_of_all_groups() -> None:
    workload = load_workload("transformer:layers=4,width=64,heads=4,sequence=64,tensor=2,data=4,pipeline=2,experts=2,expert=2")
    found = placements(workload, range(16))
    assert found["tensor"][:2] == ((0, 1), (2, 3))
    assert found["data"][:2] == ((0, 2, 4, 6), (1, 3, 5, 7))
    assert found["expert"][:2] == ((0, 2), (1, 3))
    assert found["expert data"][:2] == ((0, 4), (1, 5))
    assert found["pipeline"][0] == (0, 8)
    assert placements(workload, range(15)) == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0-1;2", "groups of ranks must have equally many endpoints, and none in common"),
        ("0-1;1-2", "groups of ranks must have equally many endpoints, and none in common"),
        ("0-1;", "members"),
    ],
)
def test_groups_that_cannot_be(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse_group(text)


@pytest.mark.parametrize("given", [[0, 2.0], [None], [0, [1, 2]], ["0,1", "2,3"], [], [[]], [True, 0]])
def test_ids_that_are_none(given: Any) -> None:
    with pytest.raises(InputError, match="expected ids of endpoints, such as"):
        parse_group(given)
    assert parse_group([0, 2]) == ((0, 2),)
    assert parse_group([[0, 2], (1, 3)]) == ((0, 2), (1, 3))


def test_what_has_no_list() -> None:
    with pytest.raises(InputError, match="group tensor has a network of its own, ring:2, and shares no links"):
        ct.joint_list(ct.train(SMALL, "ring:4", groups={"tensor": "ring:2"}, method="ring"))
    with pytest.raises(InputError, match="collectives an iteration; allowed: 1024; take fewer layers"):
        ct.joint_list(ct.train(SMALL.replace("layers=1", "layers=80"), "ring:4", method="ring"))
