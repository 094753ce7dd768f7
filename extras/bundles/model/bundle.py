"""A bundle: members, and a manifest that says to which item of evidence each belongs.

    {"format": "certree-bundle", "version": 1, "kind": "schedule" | "frontier" | "joint-schedule",
     "made_with": {"certree": "...", "python": "..."},
     "items": [{"name": "schedule", "members": ["schedule.json"]}, {"name": "tables", "absent": "why there are none"}, ...],
     "members": {"RECHECK.md": {"bytes": 2000, "sha256": "..."}, ...}}

`bundle.json`, the first member, is the manifest; `RECHECK.md` comes next, then the members of the items. Reading a bundle checks
its form and hashes. Whether the evidence is right is checked by `certree.extras.bundles.check`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from certree.extras.bundles.model.archive import packed, unpacked
from certree.models.common.budget import MOST_COLUMNS
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.files import Opened, canonical_json, parse_json, read_bytes, sha256
from certree.models.common.shown import Shown
from certree.models.schedule.symmetric.symmetric_file import any_schedule_from_document
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

FORMAT, VERSION, SUFFIX = "certree-bundle", 1, ".certree"
MANIFEST, PAGE, SCHEDULE, FRONTIER, JOINT = "bundle.json", "RECHECK.md", "schedule.json", "frontier.json", "joint.json"
KINDS = ("schedule", "frontier", "joint-schedule")
_KEYS = ("kind", "made_with", "items", "members")


@dataclass(frozen=True)
class Item:
    """An item of the manifest: the members that belong to it, or in `absent` why the bundle has no such evidence."""

    name: str
    members: tuple[str, ...] = ()
    absent: str | None = None

    def document(self) -> dict[str, Any]:
        """The entry of the item in the manifest."""
        return {"name": self.name, **({"members": list(self.members)} if self.absent is None else {"absent": self.absent})}


@dataclass(frozen=True, eq=False, repr=False)
class Bundle(Shown):
    """A bundle that was read: its form and the hashes of its members are right; nothing else has been checked.

    `kind`: what it is about, a "schedule", a "frontier" or a "joint-schedule". `made_with`: versions, as stated. `members`:
    contents by name, without the manifest. `source`: the name of the file, for messages.

    Readers of stored results take what they need: `schedule` (with its certificate), `document(name)` of a JSON member,
    `under(folder)` of several members; `certree.extras.bundles.reading` gives tables, runs and model checks as objects.
    """

    kind: str
    made_with: Mapping[str, str]
    items: tuple[Item, ...]
    members: Mapping[str, bytes] = field(repr=False)
    source: str

    def title(self) -> str:
        """The file."""
        return self.source

    def facts(self) -> dict[str, object]:
        """The subject of the bundle, and the items that it has."""
        return {"kind": self.kind, "items": ", ".join(item.name for item in self.items if item.absent is None)}

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        return packed({MANIFEST: canonical_json(self._manifest()), **self.members})

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "made_with": dict(self.made_with),
            "items": [item.document() for item in self.items],
            "members": {name: {"bytes": len(data), "sha256": sha256(data)} for name, data in self.members.items()},
        }

    @cached_property
    def schedule(self) -> AnySchedule:
        """The schedule, with its certificate. InputError for bundles of anything else and for a member that is not a schedule."""
        if self.kind != "schedule":
            raise InputError(f"{self.source} is a bundle of a {self.kind}, not of a schedule")
        return any_schedule_from_document(self.document(SCHEDULE), f"{self.source}: {SCHEDULE}")

    def document(self, name: str) -> Any:
        """The JSON document in a member; InputError without such a member, and where it is not JSON."""
        if name not in self.members:
            raise InputError(f"{self.source}: there is no {name}")
        return parse_json(self.members[name], f"{self.source}: {name}")

    def under(self, folder: str) -> dict[str, bytes]:
        """The members in a folder, by their names in it."""
        prefix = f"{folder}/"
        return {name.removeprefix(prefix): data for name, data in self.members.items() if name.startswith(prefix)}

    def item(self, name: str) -> Item:
        """The item of that name; one that the manifest does not have is absent."""
        return next(
            (item for item in self.items if item.name == name),
            Item(name, absent="the version of certree that wrote the bundle did not know this item"),
        )


def starts_as_bundle(start: bytes) -> bool:
    """Whether a file that begins with these bytes is an archive whose first member is a manifest."""
    return start[:4] == b"PK\x03\x04" and start[30:].startswith(MANIFEST.encode())


def load_bundle(file: Path | Opened) -> Bundle:
    """The bundle in a file, once its form and all hashes are checked.

    Raises InputError, one line, for files that are truncated, altered or no bundles; nothing is written to disk.
    """
    return bundle_of(read_bytes(file, MOST_COLUMNS), str(file))


def bundle_of(data: bytes, where: str) -> Bundle:
    """The bundle with these bytes; `where` names them in messages. Errors as `load_bundle`."""
    members = unpacked(data, where)
    if next(iter(members), None) != MANIFEST:
        raise InputError(f"{where} is not a bundle: its first member is not {MANIFEST}")
    manifest = Fields.of_format(parse_json(members.pop(MANIFEST), f"{where}: {MANIFEST}"), FORMAT, VERSION, f"{where}: {MANIFEST}")
    manifest.only(*_KEYS)
    kind = manifest.choice("kind", KINDS)
    made_with = manifest.table_of("made_with")
    items = tuple(_item(entry) for entry in manifest.tables("items"))
    read = Bundle(kind, {name: made_with.text(name) for name in made_with.table}, items, members, where)
    _check_members(manifest, read)
    if read.data != data:
        raise InputError(f"{where}: {MANIFEST} is not as this bundle's would be written")
    return read


def _item(entry: Fields) -> Item:
    if "absent" in entry:
        return Item(entry.only("name", "absent").text("name"), absent=entry.text("absent"))
    entry.only("name", "members")
    return Item(entry.text("name"), entry.texts("members", default=[]))


def _check_members(manifest: Fields, read: Bundle) -> None:
    """Raise InputError unless each member is there as stated, and belongs to one item."""
    owned = [PAGE, *(name for item in read.items for name in item.members)]
    if len({item.name for item in read.items}) != len(read.items):
        manifest.refuse("an item is there twice")
    stated = manifest.table_of("members")
    _same(manifest, owned, list(stated.table), "items", "members")
    _same(manifest, list(stated.table), list(read.members), "members", "the archive")
    for name, data in read.members.items():
        entry = stated.table_of(name).only("bytes", "sha256")
        if entry.text("sha256") != sha256(data) or entry.whole("bytes") != len(data):
            raise InputError(f"{read.source}: {name} was altered: its SHA-256 is not the one in {MANIFEST}")


def _same(manifest: Fields, stated: Sequence[str], found: Sequence[str], of: str, where: str) -> None:
    """Raise InputError unless two lists of members are the same, order included."""
    if missing := sorted(set(stated) - set(found)):
        manifest.refuse(f"{missing[0]} of {of} is not in {where}")
    if left := sorted(set(found) - set(stated)):
        manifest.refuse(f"{left[0]} is in {where}, not in {of}")
    if list(stated) != list(found):
        manifest.refuse(f"the order in {where} is not that of {of}")
