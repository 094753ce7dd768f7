"""Files of joint schedules: JSON, with the network once."""

from pathlib import Path
from typing import Any

import numpy as np

from certree.extras.joint.model.collective_list import MOST, MOST_CYCLES, MOST_WEIGHT, Entry, in_order, rank_of
from certree.extras.joint.model.joint_schedule import JointSchedule, Launching, Part
from certree.models.common.errors import ScheduleFormatError, located, short
from certree.models.common.fields import Fields
from certree.models.common.files import Opened, as_opened, canonical_json, read_json, require_suffix, write_atomically
from certree.models.common.quantities import MAX_SIZE
from certree.models.fine.rebooking import MAX_SLOTS
from certree.models.machine.machine import machine_document, read_machine
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document

FORMAT, VERSION = "certree-joint-schedule", 1
SUFFIXES = (".json", ".json.gz")
_MOST_BEGIN = MOST_CYCLES << 10  # a start, and all that runs before it
_LEFT_OUT = ("topology", "rounds", "certificate")  # of the schedules in it: common to all, one for each slot, none


def joint_document(joint: JointSchedule) -> dict[str, Any]:
    """The JSON document of a joint schedule."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "topology": topology_document(joint.topology),
        "machine": machine_document(joint.machine),
        "collectives": [_part_document(part) for part in joint.parts],
        "bounds": [dict(bound) for bound in joint.bounds],
        "provenance": dict(joint.provenance),
        **({} if joint.launching is None else {"launches": _launches_document(joint.launching)}),
    }


def _launches_document(launching: Launching) -> dict[str, Any]:
    orders = {str(rank): list(names) for rank, names in sorted(launching.orders.items())}
    return {"contexts": launching.contexts, "orders": orders, "order": list(launching.order)}


def _part_document(part: Part) -> dict[str, Any]:
    schedule = {name: value for name, value in schedule_document(part.schedule).items() if name not in _LEFT_OUT}
    of = part.entry.collective
    what = {"kind": of.name, "root": of.root, "members": None if of.members is None else list(of.members), "size": part.entry.size}
    return {**part.entry.document(), **what, "begin": part.begin, "slots": part.schedule.steps, "schedule": schedule}


def save_joint(joint: JointSchedule, path: str | Path, *, force: bool = False) -> None:
    """Write a joint schedule; the same one gives the same bytes.

    Parameters
    ----------
    joint : JointSchedule
        What is written.
    path : str or path
        A file with one of the SUFFIXES.
    force : bool
        Whether the file may exist.

    Raises
    ------
    InputError
        For another suffix, and for a file that exists.

    Examples
    --------
    >>> import certree.api as ct
    >>> pair = [ct.Entry("a", ct.collective("broadcast", 0), 1024), ct.Entry("b", ct.collective("broadcast", 1), 1024)]
    >>> made = ct.joint("ring:3", pair)
    >>> ct.save_joint(made, "joint.json")
    >>> ct.verify("joint.json").valid
    True
    """
    path = Path(path)
    require_suffix(path, SUFFIXES, "a joint schedule")
    write_atomically(path, canonical_json(joint_document(joint)), force=force)


def load_joint(file: Path | Opened) -> JointSchedule:
    """The joint schedule in a file; ScheduleFormatError says what is wrong and where."""
    return joint_from_document(read_json(file), str(file))


def is_joint(source: object) -> bool:
    """Whether a source is a joint schedule, or the path of one."""
    return isinstance(source, JointSchedule) or (isinstance(source, str | Path | Opened) and as_opened(source).format == FORMAT)


def as_joint(source: object) -> JointSchedule:
    """The joint schedule that a source is, or that is in the file at its path."""
    if isinstance(source, JointSchedule):
        return source
    assert isinstance(source, str | Path | Opened)
    return load_joint(as_opened(source))


def joint_from_document(document: Any, where: str) -> JointSchedule:
    """The joint schedule in a parsed JSON document."""
    fields = Fields.of_format(document, FORMAT, VERSION, where, ScheduleFormatError)
    fields.only("topology", "machine", "collectives", "bounds", "provenance", optional=("launches",))
    topology = topology_from_document(fields.raw("topology"), f"{where}: topology")
    machine = read_machine(fields.raw("machine"), f"{where}: machine")
    parts = tuple(_part(one, fields.raw("topology")) for one in fields.tables("collectives", least=1))
    with located(where, ScheduleFormatError):
        place = {entry.name: number for number, entry in enumerate(in_order([part.entry for part in parts]))}
    bounds = tuple(one.table for one in fields.tables("bounds"))
    parts = tuple(sorted(parts, key=lambda part: place[part.name]))
    launching = _launching(fields.table_of("launches")) if "launches" in fields else None
    return JointSchedule(topology, machine, parts, bounds, fields.table_of("provenance").table, launching)


def _launching(fields: Fields) -> Launching:
    fields.only("contexts", "orders", "order")
    orders = fields.table_of("orders")
    return Launching(
        fields.whole("contexts", 1, MOST),
        {rank_of(orders, rank): orders.texts(rank) for rank in orders.table},
        fields.texts("order"),
    )


def _late(fields: Fields) -> tuple[tuple[int, int], ...]:
    """The members that take part later, each with its cycle."""
    pairs = fields.entries("late") if "late" in fields else []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or any(type(one) is not int for one in pair):
            fields.refuse(f"late has {short(pair)}; expected pairs of a member and a cycle")
    return tuple((node, cycle) for node, cycle in pairs)


def _part(fields: Fields, topology: Any) -> Part:
    fields.only(
        "name", "start", "after", "weight", "kind", "root", "members", "size", "begin", "slots", "schedule", optional=("late",)
    )
    with located(fields.where, ScheduleFormatError):
        collective = parse_collective(
            fields.text("kind"),
            fields.whole_or_none("root"),
            None if fields.raw("members") is None else fields.wholes("members"),
        )
    entry = Entry(
        fields.text("name"),
        collective,
        fields.whole("size", 1, MAX_SIZE),
        fields.whole("start", 0, MOST_CYCLES),
        fields.texts("after", default=[]) if fields.entries("after", empty=True) else (),
        fields.whole("weight", 1, MOST_WEIGHT),
        _late(fields),
    )
    inner = fields.table_of("schedule").table
    slots = fields.whole("slots", 0, MAX_SLOTS)
    whole = {**inner, "topology": topology, "rounds": np.ones(slots, np.int32), "certificate": None}
    return Part(entry, fields.whole("begin", 0, _MOST_BEGIN), schedule_from_document(whole, f"{fields.where}: schedule"))
