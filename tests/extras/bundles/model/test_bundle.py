"""Manifests: members, hashes and items must agree."""

import json

import pytest

from certree.api.artefacts import Opened, kind_of
from certree.extras.bundles.model.archive import packed, unpacked
from certree.extras.bundles.model.bundle import Bundle, Item, bundle_of
from certree.models.common.errors import InputError
from tests.models.test_schemas import validator

ITEMS = (
    Item("schedule", ("schedule.json",)),
    Item("bounds"),
    Item("tables", absent="rows cannot say it"),
    Item("runs", ("r/1", "r/2")),
)
MEMBERS = {"RECHECK.md": b"# How\n", "schedule.json": b"{}\n", "r/1": b"1\n", "r/2": b"2\n"}
BUNDLE = Bundle("schedule", {"certree": "1", "python": "3"}, ITEMS, MEMBERS, "f.certree")


def test_round_trip() -> None:
    read = bundle_of(BUNDLE.data, "f.certree")
    assert (read.kind, read.made_with, read.items, read.members) == (BUNDLE.kind, BUNDLE.made_with, ITEMS, MEMBERS)
    assert read.data == BUNDLE.data
    assert read.under("r") == {"1": b"1\n", "2": b"2\n"}
    assert read.item("tables").absent == "rows cannot say it"
    assert "did not know" in str(read.item("deadlock").absent)
    assert repr(read) == "<Bundle f.certree: kind schedule, items schedule, bounds, runs>"
    validator("bundle").validate(json.loads(unpacked(BUNDLE.data, "f")["bundle.json"]))


def forged(change, extra=None) -> bytes:
    """The archive with a changed manifest, or with other members."""
    members = unpacked(BUNDLE.data, "f") | (extra or {})
    manifest = json.loads(members["bundle.json"])
    change(manifest)
    members["bundle.json"] = (json.dumps(manifest, separators=(",", ":")) + "\n").encode()
    return packed({name: data for name, data in members.items() if data is not None})


@pytest.mark.parametrize(
    ("change", "extra", "reason"),
    [
        (lambda m: m["members"]["r/1"].update(sha256="0" * 64), {}, "r/1 was altered"),
        (lambda m: m["members"]["r/1"].update(bytes=3), {}, "r/1 was altered"),
        (lambda m: None, {"r/1": b"2\n"}, "r/1 was altered"),
        (lambda m: None, {"r/1": None}, "r/1 of members is not in the archive"),
        (lambda m: None, {"r/3": b"3"}, "r/3 is in the archive, not in members"),
        (lambda m: m["members"].pop("r/1"), {}, "r/1 of items is not in members"),
        (lambda m: m["items"][3]["members"].pop(), {}, "r/2 is in members, not in items"),
        (lambda m: m["items"][3]["members"].reverse(), {}, "the order in members is not that of items"),
        (lambda m: m["items"][1]["members"].append("r/1"), {}, "the order in members is not that of items"),
        (lambda m: m["items"].append({"name": "bounds", "members": []}), {}, "an item is there twice"),
        (lambda m: m["items"].append({"name": "x"}), {}, "members is missing"),
        (lambda m: m["items"][2].update(members=[]), {}, "unknown field 'members'"),
        (lambda m: m["items"][2].update(absent=3), {}, "absent is 3"),
        (lambda m: m.update(kind="proof"), {}, "kind is 'proof'"),
        (lambda m: m.update(version=2), {}, "version 2 cannot be read"),
        (lambda m: m.update(format="certree-schedule"), {}, "expected 'certree-bundle'"),
        (lambda m: m.update(note="x"), {}, "unknown field 'note'"),
        (lambda m: m.pop("made_with"), {}, "made_with is missing"),
        (lambda m: m["made_with"].update(certree=1), {}, "certree is 1"),
        (lambda m: m.update(items=m.pop("items")), {}, "not as this bundle's would be written"),
    ],
)
def test_contradictions_are_refused(change, extra, reason) -> None:
    with pytest.raises(InputError, match=reason):
        bundle_of(forged(change, extra), "f.certree")


def test_the_manifest_comes_first() -> None:
    members = unpacked(BUNDLE.data, "f")
    with pytest.raises(InputError, match=r"first member is not bundle\.json"):
        bundle_of(packed(dict(reversed(members.items()))), "f.certree")
    with pytest.raises(InputError, match=r"first member is not bundle\.json"):
        bundle_of(packed({}), "f.certree")
    for text in (b"{", b"[]", b"[" * 100_000, b"\xff", b'{"format":NaN}'):
        with pytest.raises(InputError, match=r"bundle\.json"):
            bundle_of(packed({"bundle.json": text}), "f.certree")


def test_a_bundle_is_known_by_its_name_or_its_start(tmp_path) -> None:
    for name, data, answer in (("f.certree", b"", True), ("f", BUNDLE.data, True), ("f.npz", packed({"a": b""}), False)):
        (tmp_path / name).write_bytes(data)
        kind = kind_of(Opened(tmp_path / name))
        assert (kind is not None and kind.name == "bundle") is answer
    assert kind_of(Opened(tmp_path)) is None
    assert kind_of(Opened(tmp_path / "none.certree")) is None
