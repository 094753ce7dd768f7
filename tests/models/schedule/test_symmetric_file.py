"""Symmetric schedules in files: what comes back, and what is refused."""

import pytest

from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.common.files import canonical_json
from certree.models.network.spec import parse_topology
from certree.models.schedule.symmetric.symmetric_file import (
    load_any_schedule,
    save_any_schedule,
    symmetric_document,
    symmetric_from_document,
)
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule
from tests.models.examples import ring_all_gather, turning
from tests.models.network.test_topology_file import changed
from tests.synth.execution import make


@pytest.mark.parametrize("name", ["one.json", "one.json.gz"])
@pytest.mark.parametrize("named", [True, False])
def test_what_is_written_comes_back(tmp_path, name, named):
    made = turning("ring:7", named=named)
    save_any_schedule(made, tmp_path / name)
    loaded = load_any_schedule(tmp_path / name)
    assert isinstance(loaded, SymmetricSchedule)
    assert loaded.digest == made.digest
    assert loaded.topology.digest == made.topology.digest
    save_any_schedule(loaded, tmp_path / ("again" + name))
    assert (tmp_path / name).read_bytes() == (tmp_path / ("again" + name)).read_bytes()


def test_an_all_to_all_comes_back(tmp_path):
    made = make("flows", "torus:3x3", "all-to-all", options={"form": "folded", "copies": "2"})
    save_any_schedule(made, tmp_path / "one.json")
    loaded = load_any_schedule(tmp_path / "one.json")
    assert loaded.digest == made.digest
    assert (loaded.written_out().chunk_target == made.written_out().chunk_target).all()
    document = symmetric_document(made)
    document["trees"] = 15
    document["transfers"]["chunk"] = [min(chunk, 14) for chunk in document["transfers"]["chunk"]]
    with pytest.raises(ScheduleFormatError, match="base chunk 14 of 15 is for node 7; allowed: chunks for nodes 1 to 8 in turn"):
        symmetric_from_document(document, "file")


def test_other_schedules_pass_through(tmp_path):
    for name in ("one.json", "one.npz"):
        save_any_schedule(ring_all_gather(4), tmp_path / name)
        assert load_any_schedule(tmp_path / name).digest == ring_all_gather(4).digest
    with pytest.raises(InputError, match=r"a symmetric one goes to .json or .json.gz"):
        save_any_schedule(turning("ring:5"), tmp_path / "two.npz")
    assert not (tmp_path / "two.npz").exists()


def test_a_large_network_takes_little_room():
    """A network by its name, and a tree: a thousand times smaller than with all transfers."""
    document = symmetric_document(turning("ring:500"))
    assert document["topology"] == {"name": "ring:500", "digest": parse_topology("ring:500").digest}
    assert document["action"] == {"box": [500]}
    assert len(canonical_json(document)) < 15_000


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["topology", "digest"], "0" * 64, "file: topology: ring:5 has the digest"),
        (["topology", "name"], "ring:6", "file: topology: ring:6 has the digest"),
        (["topology", "name"], "secret.json", "topology.name is 'secret.json'; allowed: a network by the name of its family"),
        (["collective"], "broadcast", "collective is 'broadcast'; allowed: all-gather, reduce-scatter, all-reduce, all-to-all"),
        (["action"], {"box": [5], "permutations": []}, "action: expected either box or permutations"),
        (["action"], {"box": [2, 3]}, "action: box has 6 cells; expected one for each of the 5 nodes"),
        (["action"], {"box": [1] * 70 + [5]}, "action: box has 71 sizes; allowed: 1 to 20"),
        (["action"], {"box": [1 << 20] * 1000}, "action: box has 1000 sizes; allowed: 1 to 20"),
        (["topology", "name"], "ring:5.txt", "topology.name is 'ring:5.txt'; allowed: a network by the name of its family"),
        (["action"], {"permutations": [[0, 1, 2, 3]]}, "action.permutations 0 has 4 rows; expected 5"),
        (["action"], {"permutations": [[0, 1, 2, 3, 3]]}, "takes several nodes to node 3"),
        (["trees"], 0, "trees is 0; allowed: whole numbers from 1"),
        (["steps"], 1, "transfers.step row 2: 1; allowed: 0 to 0"),
        (["transfers", "chunk"], [0, 0, 0, 1], "transfers.chunk row 3: 1; allowed: 0 to 0"),
        (["transfers", "route"], [], "transfers: unknown field 'route'; known: chunk, op, step, src, dst"),
    ],
)
def test_what_is_wrong_is_named(path, value, words):
    document = changed(symmetric_document(turning("ring:5")), path, value)
    with pytest.raises(ScheduleFormatError) as error:
        symmetric_from_document(document, "file")
    assert words in str(error.value)
    assert str(error.value).startswith("file")
