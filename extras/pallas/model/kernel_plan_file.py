"""Kernel plans as JSON, an operation on each line."""

import json
import re
from typing import Any

from certree.extras.pallas.model.kernel_plan import (
    BUFFERS,
    MOST_COUNT,
    MOST_OPERATIONS,
    MOST_RANKS,
    MOST_ROWS,
    MOST_SEMAPHORES,
    KernelPlan,
    Kind,
    Operation,
    Place,
)
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.roles import Roles
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.schedule.collective import ALLTOALLV, WITH_ONE_ROOT, CollectiveKind

FORMAT = "certree-kernel-plan"
VERSION = 1
SUFFIX = ".json"
MAX_BYTES = 1 << 28
_KINDS = {str(kind): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}
_OBJECT = re.compile(r"\{[^{}]*\}")
_PLACE = re.compile(rf"({'|'.join(BUFFERS)}) (0|[1-9][0-9]{{0,6}})")
_SEMAPHORE = re.compile(r"(barrier)|(regular|dma) (0|[1-9][0-9]{0,6})")
_NAMES = {kind.name.lower(): kind for kind in Kind}


def written_plan(plan: KernelPlan) -> bytes:
    """The JSON of a plan. The same plan gives the same bytes."""
    layout = plan.layout
    head = {
        "format": FORMAT,
        "version": VERSION,
        "collective": ALLTOALLV if layout.roles.blocks else str(layout.kind),
        "ranks": plan.ranks,
        "chunks": layout.chunks,
        "root": layout.root,
        "members": None if layout.roles.members is None else list(layout.roles.members),
        "demand": [list(row) for row in layout.roles.blocks] or None,
        "repeats": plan.repeats,
        "about": plan.about,
        "scratch": plan.scratch,
        "regular": plan.regular,
        "dma": plan.dma,
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    devices = [
        "[\n" + ",\n".join(json.dumps(_document(plan, one)) for one in found) + "\n]" if found else "[]"
        for found in plan.operations
    ]
    return "\n".join(["{", *lines, '"devices": [', ",\n".join(devices), "]", "}", ""]).encode()


def _document(plan: KernelPlan, one: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {"op": one.kind.name.lower()}
    if one.kind.moves:
        found |= {"from": str(one.read), "to": str(one.written)} | ({"rows": one.rows} if one.rows > 1 else {})
    if one.kind in (Kind.START, Kind.SIGNAL):
        found["device"] = one.device
    if one.kind is Kind.START:
        sent = {} if one.send < 0 else {"send": plan.semaphore(one.send)}
        return found | sent | {"receive": plan.semaphore(one.semaphore)}
    if not one.kind.moves:
        found |= {"semaphore": plan.semaphore(one.semaphore), "count": one.times}
    return found


def plan_of(document: Any, text: str, where: str) -> KernelPlan:
    """The plan in a JSON document; `text`: that of the file, for the lines of operations.

    InputError, with the place, for what is missing, of another type, or not there. O(operations).
    """
    top = Fields.of_format(document, FORMAT, VERSION, where)
    name = top.text("collective", known=_KINDS)
    ranks, regular, dma = top.whole("ranks", 2, MOST_RANKS), *(top.whole(one, 0, MOST_SEMAPHORES) for one in ("regular", "dma"))
    chunks, root = top.whole("chunks", 1, MOST_ROWS), top.whole_or_none("root", 0, ranks - 1)
    if (root is None) == (_KINDS[name] in WITH_ONE_ROOT):
        top.refuse(f"root is {'missing' if root is None else root}; {name} has {'one' if root is None else 'none'}")
    members = None if top.raw("members", None) is None else top.wholes("members", 0, ranks - 1)
    rows = [] if top.raw("demand", None) is None else top.entries("demand")
    if bool(rows) != (name == ALLTOALLV):
        top.refuse("an alltoallv has a demand, and nothing else has one")
    blocks = tuple(
        Fields({f"demand {number}": row}, where).wholes(f"demand {number}", 0, MOST_ROWS) for number, row in enumerate(rows)
    )
    devices = top.entries("devices")
    if len(devices) != ranks or not all(isinstance(one, list) for one in devices):
        top.refuse(f"devices has {len(devices)} entries; expected {ranks} lists of operations")
    count = sum(map(len, devices))
    if count > MOST_OPERATIONS:
        top.refuse(f"{count} operations; allowed: up to {MOST_OPERATIONS}")
    reader = _Reader(regular, dma)
    about, repeats, scratch = (
        top.text("about", default=""),
        top.whole("repeats", 1, 1 << 20, default=1),
        top.whole("scratch", 0, MOST_ROWS),
    )
    top.done()
    lines = _lines(text, [len(found) for found in devices])
    operations = []
    for device, found in enumerate(devices):
        names = (_where(where, device, number, lines) for number in range(len(found)))
        operations.append(tuple(reader.operation(Fields(one, at)) for one, at in zip(found, names, strict=True)))
    try:
        plan = KernelPlan(
            Layout(_KINDS[name], ranks, chunks, root, Roles(members, blocks)),
            repeats,
            about,
            scratch,
            regular,
            dma,
            tuple(operations),
            lines,
        )
        plan.require_fits()
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return plan


def _where(where: str, device: int, number: int, lines: dict[tuple[int, int], int]) -> str:
    line = lines.get((device, number))
    return f"{where}: device {device}, operation {number}" + ("" if line is None else f" (line {line})")


def _lines(text: str, counts: list[int]) -> dict[tuple[int, int], int]:
    """The line on which each operation begins, by device and number; none where the text does not show which that is."""
    found, line, at = [], 1, 0
    for one in _OBJECT.finditer(text):
        if '"op"' not in one[0]:
            continue
        line += text.count("\n", at, one.start())
        at = one.start()
        found.append(line)
    keys = [(device, number) for device, count in enumerate(counts) for number in range(count)]
    return dict(zip(keys, found, strict=True)) if len(found) == len(keys) else {}


class _Reader:
    """Reads operations of a plan with N semaphores."""

    def __init__(self, regular: int, dma: int) -> None:
        self.regular, self.dma = regular, dma

    def operation(self, table: Fields) -> Operation:
        """The operation in a table."""
        kind = _NAMES[table.text("op", known=_NAMES)]
        if kind is Kind.START:
            one = Operation(
                kind,
                *self._moved(table),
                device=table.whole("device", 0, MOST_RANKS),
                semaphore=self._semaphore(table, "receive"),
                send=self._semaphore(table, "send") if "send" in table else -1,
            )
        elif kind.moves:
            one = Operation(kind, *self._moved(table))
        else:
            one = Operation(
                kind,
                device=table.whole("device", 0, MOST_RANKS) if kind is Kind.SIGNAL else -1,
                semaphore=self._semaphore(table, "semaphore"),
                times=table.whole("count", 1, MOST_COUNT, default=1),
            )
        table.done()
        return one

    def _moved(self, table: Fields) -> tuple[Place, Place, int]:
        places = []
        for name in ("from", "to"):
            found = _PLACE.fullmatch(table.text(name))
            if found is None:
                table.refuse(f"{name} is {table.text(name)!r}; expected {', '.join(BUFFERS)} and a row, such as 'scratch 3'")
            places.append(Place(BUFFERS.index(found[1]), int(found[2])))
        return places[0], places[1], table.whole("rows", 1, MOST_ROWS, default=1)

    def _semaphore(self, table: Fields, name: str) -> int:
        text = table.text(name)
        found = _SEMAPHORE.fullmatch(text)
        if found is None:
            table.refuse(f"{name} is {text!r}; expected barrier, or regular or dma and a number, such as 'dma 3'")
        if found[1]:
            return 0
        most, number = (self.regular if found[2] == "regular" else self.dma), int(found[3])
        if number >= most:
            table.refuse(f"{name} is {text!r}; there are {most} semaphores of that kind")
        return 1 + number + (self.regular if found[2] == "dma" else 0)
