"""Lists of collectives that run on one network: TOML files with a table `[[collective]]` for each."""

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, located, short
from certree.models.common.fields import Fields
from certree.models.common.files import read_bytes, require_suffix, write_atomically
from certree.models.common.presets import parse_toml
from certree.models.common.quantities import MAX_SIZE, parse_duration
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.relays import MEMBERS, relayed
from certree.models.schedule.collective import ALLTOALLV, Collective, parse_collective, parse_members

MOST = 1 << 10  # collectives
MOST_WEIGHT = 1 << 20
MOST_CYCLES = 1 << 40  # before a collective may start
_DIGITS = 9  # of the id of an endpoint
_NAMES = "allowed: 1 to 100 printable characters"
_NOTHING = re.compile(r"0+(\.0+)?\s*([nuµm]?s|m|h)?")  # a time that `parse_duration` does not take


@dataclass(frozen=True)
class Entry:
    """A collective of a list: its `name`, which no other has, what it is, and the bytes of its message. It may start in cycle
    `start` of the run, and when all data of those named in `after` have landed everywhere. `weight` counts its end in the sum of
    weighted ends. `late`: (member, cycle) of members that take part from a later cycle on: until then they send nothing of it, and
    nothing of it reaches them."""

    name: str
    collective: Collective
    size: int
    start: int = 0
    after: tuple[str, ...] = ()
    weight: int = 1
    late: tuple[tuple[int, int], ...] = ()

    def releases(self, nodes: int) -> NDArray[np.int64]:
        """The cycle from which on each node of a network takes part; `nodes`: their number."""
        found = np.full(nodes, self.start, np.int64)
        for node, cycle in self.late:
            found[node] = cycle
        return found

    def require_members(self, topology: Topology) -> None:
        """Raise InputError unless those that are late are members, each once, and later than the start."""
        self.require_late(self.collective.members_of(topology).tolist())

    def require_late(self, members: Container[int]) -> None:
        """Raise InputError unless those that are late are among these members, each once, and later than the start."""
        for place, (node, cycle) in enumerate(self.late):
            if node not in members or node in [other for other, _ in self.late[:place]]:
                raise InputError(f"{self.name}: start of {short(node)}, which is no member, or has one already")
            if type(cycle) is not int or not self.start < cycle <= MOST_CYCLES:
                raise InputError(f"{self.name}: start of {node} is {short(cycle)}; allowed: {self.start + 1} to {MOST_CYCLES}")

    def document(self) -> dict[str, object]:
        """The fields that say when it may start and how it counts."""
        late = {"late": [list(pair) for pair in self.late]} if self.late else {}
        return {"name": self.name, "start": self.start, "after": list(self.after), "weight": self.weight, **late}


@dataclass(frozen=True)
class CollectiveList:
    """The contents of a file of collectives: its `entries`, each behind those that it waits for; `stated`: the same as the file has
    them, which is the order in which ranks launch them. `launches`: by rank another order, where one is stated, of which `contexts`
    may be open at once."""

    entries: tuple[Entry, ...]
    stated: tuple[Entry, ...]
    launches: Mapping[int, tuple[str, ...]]
    contexts: int


def load_collectives(path: Path, topology: Topology, machine: Machine) -> CollectiveList:
    """The collectives of a TOML file.

    InputError names the table and the field that is wrong, members that cannot reach each other, and collectives that wait for each
    other in a circle.
    """
    return read_collectives(read_bytes(path), str(path), topology, machine)


def read_collectives(data: bytes, where: str, topology: Topology, machine: Machine) -> CollectiveList:
    """The collectives of the text of such a file, which messages call `where`. Errors as `load_collectives`."""
    found = Fields(parse_toml(data, where), where).only("collective", optional=("launches", "contexts"))
    tables = found.tables("collective", least=1)
    if len(tables) > MOST:
        found.refuse(f"{len(tables)} collectives; allowed: {MOST}")
    entries = [_entry(fields, number, topology, machine) for number, fields in enumerate(tables)]
    launches = found.table_of("launches", {})
    orders = {rank_of(launches, rank): launches.texts(rank) for rank in launches.table}
    contexts = found.whole("contexts", 1, MOST, default=1)
    with located(where):
        return CollectiveList(in_order(entries), tuple(entries), orders, contexts)


def save_collectives(entries: Iterable[Entry], path: str | Path, *, force: bool = False) -> None:
    """Write a list of collectives as a TOML file, which `ct.joint` and `certree synthesize --workload` take.

    Parameters
    ----------
    entries : iterable of Entry
        The collectives.
    path : str or path
        A file with the suffix .toml.
    force : bool
        Whether the file may exist.

    Raises
    ------
    InputError
        For another suffix, a file that exists, and collectives that no such file can have: more than MOST, an alltoallv, and late
        members that are not in the list of members.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.save_collectives([ct.Entry("sum", ct.collective("all-reduce"), 4096)], "w.toml")
    >>> ct.joint("ring:3", "w.toml").entries[0].name
    'sum'
    """
    require_suffix(Path(path), (".toml",), "a list of collectives")
    blocks, ordered = [], in_order(entries)
    if len(ordered) > MOST:
        raise InputError(f"{path}: {len(ordered)} collectives; allowed: {MOST}")
    for entry in ordered:
        of = entry.collective
        if of.demand is not None:
            raise InputError(f"{entry.name}: {of.name} is not for collectives that run together; use all-to-all")
        entry.require_late(range(10**_DIGITS) if of.members is None else of.members)
        fields: dict[str, object] = {"name": entry.name, "kind": str(of.kind), "size": entry.size}
        fields |= {"root": of.root} if of.root is not None else {}
        fields |= {"members": list(of.members)} if of.members is not None else {}
        fields |= {"start": entry.start} if entry.start and not entry.late else {}
        fields |= {"after": list(entry.after)} if entry.after else {}
        fields |= {"weight": entry.weight} if entry.weight > 1 else {}
        blocks.append(
            "\n".join(
                [
                    "[[collective]]",
                    *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()),
                    *_late_text(entry),
                    "",
                ]
            )
        )
    write_atomically(Path(path), "\n".join(blocks).encode(), force=force)


def _late_text(entry: Entry) -> list[str]:
    """The line for members that start at different times; those without an entry start in cycle 0, so a later start needs all."""
    if not entry.late:
        return []
    cycles = dict.fromkeys(entry.collective.members or (), entry.start) if entry.start else {}
    if entry.start and not cycles:
        raise InputError(f"{entry.name}: a start of {entry.start} and late members in a file need a list of members")
    cycles |= dict(entry.late)
    return [f"start = {{{', '.join(f'{node} = {cycle}' for node, cycle in cycles.items())}}}"]


def rank_of(launches: Fields, rank: str) -> int:
    """The id that a key of a table is."""
    if not rank.isascii() or not rank.isdigit() or len(rank) > _DIGITS or rank != str(int(rank)):
        launches.refuse(f"{short(rank)} is not the id of an endpoint")
    return int(rank)


def _entry(fields: Fields, number: int, topology: Topology, machine: Machine) -> Entry:
    optional = ("members", "root", "start", "after", "weight", "name")
    fields.only("kind", "size", optional=optional)
    kind = fields.text("kind")
    if kind == ALLTOALLV:
        fields.refuse(f"kind {ALLTOALLV} is not for collectives that run together; use all-to-all")
    members: Iterable[int] | None = None
    with located(fields.where):
        if "members" in fields:
            members = parse_members(fields.text("members")) if isinstance(fields.raw("members"), str) else fields.wholes("members")
        collective = parse_collective(kind, fields.whole_or_none("root"), None if members is None else tuple(members))
        collective = collective.fitted(topology)
        relayed(topology, collective, "all")
        start, late = _starts(fields, machine, collective.members_of(topology).tolist())
    size = fields.size("size")
    if not 1 <= size <= MAX_SIZE:
        fields.refuse(f"size is {size}; allowed: 1 to {MAX_SIZE} bytes")
    name = fields.text("name", default=f"{kind}-{number}")
    if not is_name(name):
        fields.refuse(f"name is {short(name)}; {_NAMES}")
    after = fields.texts("after", default=[])
    return Entry(name, collective, size, start, after, fields.whole("weight", 1, MOST_WEIGHT, default=1), late)


def _starts(fields: Fields, machine: Machine, members: Sequence[int]) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The first cycle in which a collective may start, and its members that take part later: of a table by id of a member. Members
    without an entry take part from cycle 0 on."""
    if not isinstance(fields.raw("start", 0), Mapping):
        return _cycles(fields, "start", machine), ()
    table = fields.table_of("start")
    cycles = dict.fromkeys(members, 0)
    for key in table.table:
        if (node := rank_of(table, key)) not in cycles:
            fields.refuse(f"start of {node}, which is no member")
        cycles[node] = _cycles(table, key, machine)
    first = min(cycles.values())
    return first, tuple((node, cycle) for node, cycle in cycles.items() if cycle > first)


def _cycles(fields: Fields, name: str, machine: Machine) -> int:
    """A number of cycles: a whole number, or a text such as "5us", rounded up."""
    value = fields.raw(name, 0)
    if not isinstance(value, str):
        return fields.whole(name, 0, MOST_CYCLES, default=0)
    text = value.strip()
    if _NOTHING.fullmatch(text):
        return 0
    small = {"us": 10**6, "µs": 10**6, "ns": 10**9}.get(text[-2:], 1)
    try:
        seconds = parse_duration(text[:-2] if small > 1 else text) / small
    except InputError:
        fields.refuse(f"{name} is {short(value)}; allowed: a time with ns, us, ms, s, m or h, or a whole number of cycles")
    cycles = -(-seconds * machine.clock_hz // 1)
    if cycles > MOST_CYCLES:
        fields.refuse(f"start is {short(value)}, {cycles} cycles; allowed: up to {MOST_CYCLES}")
    return int(cycles)


def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries, each behind those that it waits for, else in the given order. InputError if there is none, for a name that
    occurs twice, an unknown name to wait for, a wrong field, or entries that wait for each other in a circle."""
    waiting: dict[str, Entry] = {}
    for entry in entries:
        require_entry(entry)
        if entry.name in waiting:
            raise InputError(f"two collectives have the name {short(entry.name)}")
        waiting[entry.name] = entry
    for entry in waiting.values():
        for other in entry.after:
            if other not in waiting:
                raise InputError(f"{entry.name} is after {short(other)}; known: {', '.join(waiting)}")
    if not waiting:
        raise InputError("there are no collectives; at least one is needed")
    done: dict[str, Entry] = {}
    while waiting:
        ready = [name for name, entry in waiting.items() if all(other in done for other in entry.after)]
        if not ready:
            raise InputError(f"collectives wait for each other in a circle: {_circle(waiting)}")
        done |= {name: waiting.pop(name) for name in ready}
    return tuple(done.values())


def is_name(name: str) -> bool:
    """Whether a collective may have this name, which stands in lines, pictures and paths."""
    return 0 < len(name) <= 100 and name.isprintable()


def require_entry(entry: object) -> None:
    """Raise InputError for what is not an entry, and for a field that has another type or is out of range."""
    if not isinstance(entry, Entry):
        raise InputError(f"{short(entry)}: expected an Entry")
    if not isinstance(entry.name, str) or not isinstance(entry.collective, Collective):
        raise InputError(f"{short(entry)}: expected a name and a collective, such as ct.collective('all-reduce')")
    if not is_name(entry.name):
        raise InputError(f"name is {short(entry.name)}; {_NAMES}")
    for what, value, most in (
        ("size", entry.size, MAX_SIZE),
        ("weight", entry.weight, MOST_WEIGHT),
        ("start", entry.start, MOST_CYCLES),
    ):
        lowest = int(what != "start")
        if type(value) is not int or not lowest <= value <= most:
            raise InputError(f"{entry.name}: {what} is {short(value)}; allowed: whole numbers from {lowest} to {most}")
    if not isinstance(entry.late, tuple) or not all(
        isinstance(one, tuple) and len(one) == 2 and all(type(value) is int for value in one) for one in entry.late
    ):
        raise InputError(f"{entry.name}: late is {short(entry.late)}; expected pairs of a member and a cycle")
    if not isinstance(entry.after, tuple | list) or not all(isinstance(name, str) for name in entry.after):
        raise InputError(f"{entry.name}: after is {short(entry.after)}; expected names in a list")


def _circle(waiting: dict[str, Entry]) -> str:
    seen = [next(iter(waiting))]
    while True:
        following = next(other for other in waiting[seen[-1]].after if other in waiting)
        if following in seen:
            return " waits for ".join([*seen[seen.index(following) :], following])
        seen.append(following)


def can_do_without_others(topology: Topology, entry: Entry) -> bool:
    """Whether its members reach each other over links between themselves and over switches."""
    if entry.collective.members is None:
        return False
    try:
        return relayed(topology, entry.collective, MEMBERS)[0] is not topology
    except InputError:
        return False


def require_no_others(topology: Topology, entry: Entry) -> None:
    """TopologyError, with its name, for a collective whose members do not reach each other without other endpoints."""
    if entry.collective.members is not None and entry.collective.fitted(topology).members is not None:
        with located(f"{entry.name}: relay {MEMBERS}"):
            relayed(topology, entry.collective, MEMBERS)
