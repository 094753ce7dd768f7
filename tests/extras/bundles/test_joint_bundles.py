"""Bundles of joint schedules: everything is re-checked, wrong evidence is found by its item, and the schedule comes out again."""

import json

import pytest

import certree.api as ct
from certree.extras.bundles.check.checking import verify_bundle
from certree.extras.bundles.model.bundle import JOINT, Bundle, bundle_of
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json
from tests.cli.running import certree
from tests.extras.joint.small_joint import document, small

ROWS, RUN = "tables/rows.csv", "runs/joint.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles")
    return ct.bundle(small(), folder / "joint.certree")


def wrong(bundle: Bundle, name: str, data: bytes) -> str:
    """The first item that fails with another member in the place of one, whose hash is right."""
    members = {**bundle.members, name: data}
    packed = Bundle(bundle.kind, bundle.made_with, bundle.items, members, "it").data
    return next(f"{item.name}: {item.text}" for item in verify_bundle(bundle_of(packed, "it")).items if not item.passed)


def test_every_item_is_checked(made, tmp_path):
    statuses = {item.name: str(item.status) for item in made.items}
    assert statuses == {
        "archive": "re-checked", "joint: collectives": "re-checked", "joint: bounds": "re-checked", "joint-tables": "re-checked",
        "joint-runs": "re-ran", "RECHECK.md": "re-checked", "origin": "trusted",
    }  # fmt: skip
    again = ct.bundle(small(), tmp_path / "again.certree")
    assert again.bundle.data == made.bundle.data
    rows = made.bundle.members[ROWS].decode().splitlines()
    assert rows[0] == "node,row,cycle,collective,row of collective"
    assert {line.split(",")[3] for line in rows[1:]} == {part.name for part in small().parts}


def test_the_schedule_comes_out(made, tmp_path):
    path = tmp_path / "joint.certree"
    path.write_bytes(made.bundle.data)
    outcome = certree("verify", path)
    assert outcome.code == 0, outcome
    assert "valid: bundle of a joint schedule on ring:4" in outcome.out
    assert certree("import", path, "-o", tmp_path / "joint.json").code == 0
    assert json.loads((tmp_path / "joint.json").read_text()) == document()
    assert repr(ct.load(path)) == repr(small())


def test_other_schedules_fail(made):
    changed = document()
    next(one for one in changed["collectives"] if one["name"] == "more")["begin"] = 100
    assert wrong(made.bundle, JOINT, canonical_json(changed)).startswith("joint: joint-link: ")
    changed = document()
    changed["bounds"][0]["value"] = "123456"
    assert wrong(made.bundle, JOINT, canonical_json(changed)).startswith("joint: joint-bound: ")
    changed = document()  # later by two cycles: still valid, and neither the rows nor the run are those of the bundle
    changed["collectives"][-1]["begin"] += 2
    assert (
        wrong(made.bundle, JOINT, canonical_json(changed)) == "joint-tables: tables/rows.csv does not have the rows of these tables"
    )


def test_other_rows_and_tags_fail(made):
    rows = made.bundle.members[ROWS]
    assert "does not have the rows" in wrong(made.bundle, ROWS, rows.replace(b",sum,", b",more,", 1))
    swapped = {**made.bundle.members}
    for name in made.bundle.under("tables/0"):
        swapped[f"tables/0/{name}"] = made.bundle.members.get(f"tables/1/{name}", swapped[f"tables/0/{name}"])
    packed = Bundle(made.bundle.kind, made.bundle.made_with, made.bundle.items, swapped, "it").data
    failed = next(item for item in verify_bundle(bundle_of(packed, "it")).items if not item.passed)
    assert failed.name == "joint-tables"


def test_other_runs_fail(made):
    stated = json.loads(made.bundle.members[RUN])
    told = wrong(made.bundle, RUN, canonical_json({**stated, "cycles": 1}))
    assert told == f"joint-runs: states cycles = 1; the run has {small().cycles}"
    assert wrong(made.bundle, RUN, canonical_json({"cycles": 1})) == "joint-runs: runs/joint.json does not have what a run has"


def test_what_does_not_apply_is_refused(tmp_path):
    for option in ({"size": 1024}, {"machine": "multitree"}, {"collective": "all-reduce"}, {"root": 0}):
        with pytest.raises(InputError, match=f"{next(iter(option))} does not apply"):
            ct.bundle(small(), tmp_path / "no.certree", **option)
    with pytest.raises(InputError, match="joint schedules run in their slots; allowed runs: slotted"):
        ct.bundle(small(), tmp_path / "no.certree", runs=["paced"])
    changed = document()
    next(one for one in changed["collectives"] if one["name"] == "more")["begin"] = 100
    (tmp_path / "bad.json").write_bytes(canonical_json(changed))
    with pytest.raises(InputError, match=r"bad\.json: the joint schedule is invalid: joint-link: "):
        ct.bundle(tmp_path / "bad.json", tmp_path / "no.certree")
    assert not (tmp_path / "no.certree").exists()
