"""Python modules for Pallas with a kernel plan: written, and read without executing them.

A module is that of `device/kernel_template.py` with other constants: its code is the same for all schedules, but for the name of
the function. Reading takes the constants as literals, and requires the rest to be that code.
"""

import ast
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from certree.extras.pallas.model.kernel_plan import (
    BARRIER,
    INPUT,
    MOST_COUNT,
    MOST_OPERATIONS,
    MOST_RANKS,
    MOST_ROWS,
    MOST_SEMAPHORES,
    OUTPUT,
    SCRATCH,
    KernelPlan,
    Kind,
    Operation,
    Place,
)
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.roles import Roles
from certree.extras.xla.model.jax_module import collective_name, function_name
from certree.extras.xla.model.packed import packed, unpacked
from certree.extras.xla.model.permute_program import Int64
from certree.models.common.errors import InputError, UnsupportedError, short, unknown_name
from certree.models.schedule.collective import ALLTOALLV, WITH_ONE_ROOT, CollectiveKind

MARK = b"# certree-pallas 1\n"
SUFFIX = ".py"
FIELDS = 6
MOST_LISTED = 1 << 14  # operations of all devices of a module that lists them
MOST_OF_DEVICE = 1 << 14  # operations: 6 numbers of 4 bytes each, in scalar memory
MOST_OF_KERNEL = 256  # semaphores
VMEM_BYTES = 16 << 20  # of a device; modules have this number, too
TILE_BYTES = 4096  # to a multiple of which a row is padded
_CONSTANTS = "# constants of the schedule\n"
_CODE = "# the code below is the same in every such module\n"
_LIST = "OPERATIONS = [\n"
_SIZES = ("CHUNKS", "REPEATS", "INPUT", "OUTPUT", "SCRATCH", "REGULAR", "DMA")
_NAMES = ("COLLECTIVE", "RANKS", "ROOT", "MEMBERS", "DEMAND", *_SIZES, "OPERATIONS")
_START, _WAIT_DMA, _WAIT, _WAIT_BARRIER, _SIGNAL, _SIGNAL_BARRIER, _LOAD, _STORE, _COPY, _ADD = range(1, 11)
_MOVES = {_LOAD: (INPUT, SCRATCH), _STORE: (SCRATCH, OUTPUT), _COPY: (SCRATCH, SCRATCH), _ADD: (SCRATCH, SCRATCH)}


def written_module(plan: KernelPlan) -> bytes:
    """The module of a plan. The same plan gives the same bytes. UnsupportedError for what the code of modules does not do, and for
    more semaphores and operations than a kernel may have."""
    if (beyond := _beyond(plan)) is not None:
        raise UnsupportedError(beyond)
    head, code, _ = _template()
    return f"{_head(head, plan)}{_CONSTANTS}{_constants(plan)}\n{_CODE}{_named(code, collective_name(plan.layout))}".encode()


def _beyond(plan: KernelPlan) -> str | None:
    """What a kernel has more of than it may, in words, or None."""
    if plan.semaphores > MOST_OF_KERNEL:
        return f"a kernel with {plan.semaphores} semaphores; allowed: up to {MOST_OF_KERNEL}"
    if (most := max(map(len, plan.operations))) > MOST_OF_DEVICE:
        return f"a kernel with {most} operations of a device; allowed: up to {MOST_OF_DEVICE}"
    if (used := vmem_bytes(plan, 1)) > VMEM_BYTES:
        return f"a kernel whose rows take {used:,} bytes of vector memory or more; allowed: up to {VMEM_BYTES:,}"
    return None


def vmem_bytes(plan: KernelPlan, row_bytes: int) -> int:
    """The bytes of vector memory that all rows of a device take, padded to whole tiles."""
    return sum(plan.rows) * TILE_BYTES * -(-row_bytes // TILE_BYTES)


@cache
def _template() -> tuple[str, str, str]:
    """(what stands before the constants, the code after them, the comment on the table) in the template."""
    text = (files("certree.extras.pallas.device") / "kernel_template.py").read_text(encoding="ascii")
    head, _, rest = text.partition(_CONSTANTS)
    constants, _, code = rest.partition(f"\n{_CODE}")
    comment = "".join(f"{line}\n" for line in constants.splitlines() if line.startswith("    #"))
    return head, code, comment


def _head(head: str, plan: KernelPlan) -> str:
    name = collective_name(plan.layout)
    words = name.capitalize() if "all" not in name else f"{name[0].upper()}{name[1:]}"
    head = head.replace("All-reduce on 2 devices", f"{words} on {plan.ranks} devices", 1)
    head = head.replace("all_reduce(x, axis_name)", f"{function_name(name)}(x, axis_name)", 1)
    return head.replace("all-reduce on ring:2, made by ring", plan.about, 1)


def _named(code: str, name: str) -> str:
    """The code with the function of a collective."""
    head = 'def all_reduce(x, axis_name, op="sum", interpret=False, collective_id=0):\n    """All-reduce of x'
    own = head.replace("all_reduce", function_name(name)).replace("All-reduce", f"{name[0].upper()}{name[1:]}")
    return code.replace(head, own, 1)


def _constants(plan: KernelPlan) -> str:
    layout = plan.layout
    demand = [list(row) for row in layout.roles.blocks] or None
    members = None if layout.roles.members is None else list(layout.roles.members)
    sizes = (1 if demand else layout.block, plan.repeats, *plan.rows, plan.regular, plan.dma)
    lines = [
        f'COLLECTIVE, RANKS, ROOT, MEMBERS, DEMAND = "{collective_name(layout)}", {plan.ranks}, {layout.root}, {members}, {demand}',
        f"{', '.join(_SIZES)} = {', '.join(map(str, sizes))}",
    ]
    found = np.zeros((plan.ranks, max(map(len, plan.operations)), FIELDS), np.int64)
    for device, number, one in plan:
        found[device, number] = _numbers(plan, device, number, one)
    if found.shape[0] * found.shape[1] > MOST_LISTED:
        return "\n".join([*lines, f"OPERATIONS = {packed(found, as_list=False)}", ""])
    lines += [f"{_LIST}{_template()[2]}    [", "    ],\n    [\n".join(_listed(rows) for rows in found.tolist()) + "    ],", "]", ""]
    return "\n".join(lines)


def _listed(rows: list[list[int]]) -> str:
    return "".join(f"        {row},\n" for row in rows)


def _numbers(plan: KernelPlan, device: int, number: int, one: Operation) -> tuple[int, ...]:
    """An operation as a row of the table."""
    buffers = tuple(place.buffer for place in (one.read, one.written) if place is not None)
    first, second = (-1 if place is None else place.row for place in (one.read, one.written))
    if one.rows > 1 or (plan.is_dma(one.semaphore) and one.kind is Kind.WAIT and one.times > 1):
        raise UnsupportedError(f"{plan.where(device, number)} is of several rows; in a module a DMA, copy and addition has one")
    dma = 1 + plan.regular
    if one.kind is Kind.START:
        if buffers == (SCRATCH, SCRATCH) and one.send >= 0:
            return _START, first, second, one.device, one.semaphore - dma, one.send - dma
    elif one.kind is Kind.WAIT:
        if one.semaphore == BARRIER:
            return _WAIT_BARRIER, 0, 0, 0, 0, one.times
        is_dma = plan.is_dma(one.semaphore)
        return (_WAIT_DMA, 0, 0, 0, one.semaphore - dma, 1) if is_dma else (_WAIT, 0, 0, 0, one.semaphore - 1, one.times)
    elif one.kind is Kind.SIGNAL:
        is_barrier = one.semaphore == BARRIER
        return (_SIGNAL_BARRIER if is_barrier else _SIGNAL), 0, 0, one.device, max(0, one.semaphore - 1), one.times
    else:
        known = (_ADD,) if one.kind is Kind.ADD else (_LOAD, _STORE, _COPY)
        for code in known:
            if _MOVES[code] == buffers:
                return code, first, second, 0, 0, 0
    words = f"{one.kind.name.lower()} from {one.read} to {one.written}"
    raise UnsupportedError(f"{plan.where(device, number)}: {words} is in no module")


def read_module(data: bytes, where: str) -> KernelPlan:
    """The plan of a module. InputError, one line, for a file that is none, has other code, or whose constants do not fit."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise InputError(f"{where}: it has characters that are not ASCII") from None
    head, found, rest = text.partition(_CONSTANTS)
    constants, second, code = rest.partition(f"\n{_CODE}")
    if not found or not second:
        raise InputError(f"{where}: it lacks the line {(_CODE if found else _CONSTANTS).strip()!r}")
    first = head.count("\n") + 1
    values, lines = _literals(constants, first, where)
    name = values["COLLECTIVE"]
    if not isinstance(name, str) or name not in _kinds():
        raise InputError(f"{where}: {unknown_name('collective', str(name), _kinds())}")
    own_head, own_code, _ = _template()
    for number, (line, own) in enumerate(zip(f"{code}\n".split("\n"), f"{_named(own_code, name)}\n".split("\n"), strict=False)):
        if line != own:
            at = text[: -len(code)].count("\n") + 1 + number if code else text.count("\n")
            raise InputError(f"{where}: line {at} is {short(line)}; in a module of certree it is {short(own)}")
    if code != _named(own_code, name):
        raise InputError(f"{where}: its code has {len(code)} characters; expected {len(_named(own_code, name))}")
    about = head.splitlines()[3].partition(" for: ")[2].removesuffix(".") if head.count("\n") > 4 else ""
    try:
        plan = _plan(values, about, lines)
        plan.require_fits()
        if (beyond := _beyond(plan)) is not None:
            raise InputError(beyond)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if head != _head(own_head, plan) or not about.isprintable() or '"' in about or "\\" in about:
        raise InputError(f"{where}: the lines before the constants are not those of its schedule")
    return plan


def _kinds() -> dict[str, CollectiveKind]:
    return {str(kind): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}


def _literals(text: str, first: int, where: str) -> tuple[dict[str, Any], dict[tuple[int, int], int]]:
    """The constants by name, and the lines of the operations that are listed; `first`: the line before the first one."""
    found: dict[str, Any] = {}
    lines: dict[tuple[int, int], int] = {}
    try:
        for line in ast.parse(text).body:
            if not isinstance(line, ast.Assign) or len(line.targets) != 1:
                raise InputError(f"{where}: line {first + line.lineno} is not a constant")
            target, value = line.targets[0], ast.literal_eval(line.value)
            if isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(target.elts) == len(value):
                found |= {getattr(one, "id", ""): part for one, part in zip(target.elts, value, strict=True)}
            else:
                found[getattr(target, "id", "")] = value
            if isinstance(line.value, ast.List):
                for device, rows in enumerate(line.value.elts):
                    lines |= {(device, at): first + row.lineno for at, row in enumerate(getattr(rows, "elts", []))}
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(f"{where}: its constants are not literals of Python: {short(str(error))}") from None
    if sorted(found) != sorted(_NAMES):
        raise InputError(f"{where}: it has the constants {short(', '.join(found))}; expected {', '.join(_NAMES)}")
    return found, lines


def _whole(values: dict[str, Any], name: str, least: int, most: int) -> int:
    value = values[name]
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{name} is {short(value)}; allowed: {least} to {most}")
    return value


def _plan(values: dict[str, Any], about: str, lines: dict[tuple[int, int], int]) -> KernelPlan:
    name = values["COLLECTIVE"]
    ranks = _whole(values, "RANKS", 2, MOST_RANKS)
    chunks, repeats = (_whole(values, one, 1, MOST_ROWS) for one in ("CHUNKS", "REPEATS"))
    scratch = _whole(values, "SCRATCH", 0, MOST_ROWS)
    regular, dma = (_whole(values, one, 0, MOST_SEMAPHORES) for one in ("REGULAR", "DMA"))
    for one in ("MEMBERS", "DEMAND"):  # the code of modules reads these as they are
        if not isinstance(values[one], list | None):
            raise InputError(f"{one} is {short(values[one])}; expected lists of whole numbers, or None")
    members = None if values["MEMBERS"] is None else tuple(unpacked(values["MEMBERS"], 1, "MEMBERS").tolist())
    blocks = () if values["DEMAND"] is None else tuple(map(tuple, unpacked(values["DEMAND"], 2, "DEMAND").tolist()))
    if bool(blocks) != (name == ALLTOALLV) or any(min(row) < 0 for row in blocks):
        raise InputError(f"DEMAND is {short(values['DEMAND'])}; an alltoallv has rows of whole numbers, and nothing else has it")
    kind = _kinds()[name]
    root = _whole(values, "ROOT", 0, ranks - 1) if kind in WITH_ONE_ROOT else None
    if root is None and values["ROOT"] is not None:
        raise InputError(f"ROOT is {short(values['ROOT'])}; {name} has none")
    if blocks:
        chunks = max([*map(sum, blocks), *map(sum, zip(*blocks, strict=True))])
    elif kind in (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL):
        chunks *= ranks if members is None else len(members)
    numbers = unpacked(values["OPERATIONS"], 3, "OPERATIONS")
    if numbers.shape[0] != ranks or numbers.shape[2] != FIELDS or numbers.size > FIELDS * MOST_OPERATIONS:
        raise InputError(f"OPERATIONS are {numbers.shape} numbers; expected {ranks} devices, and {FIELDS} of each operation")
    operations = tuple(_operations(rows, regular, device, lines) for device, rows in enumerate(numbers))
    plan = KernelPlan(
        Layout(kind, ranks, chunks, root, Roles(members, blocks)), repeats, about, scratch, regular, dma, operations, lines
    )
    if plan.rows[:2] != (values["INPUT"], values["OUTPUT"]):
        stated = f"{short(values['INPUT'])} and {short(values['OUTPUT'])}"
        raise InputError(f"INPUT and OUTPUT are {stated}; expected {plan.rows[0]} and {plan.rows[1]}")
    return plan


def _operations(rows: Int64, regular: int, device: int, lines: dict[tuple[int, int], int]) -> tuple[Operation, ...]:
    """The operations of a device. Rows of zeros at the end are none."""
    found = []
    rest = 1 + np.flatnonzero(rows.any(axis=1)).max(initial=-1)
    for number, row in enumerate(rows[:rest].tolist()):
        one = _operation(row, regular)
        if one is None:
            line = lines.get((device, number))
            at = "" if line is None else f" (line {line})"
            raise InputError(f"device {device}, operation {number}{at} is {short(row)}; no operation has these numbers")
        found.append(one)
    return tuple(found)


def _operation(row: list[int], regular: int) -> Operation | None:
    """An operation from a row of the table, or None for a row that is none."""
    code, first, second, device, semaphore, more = row
    dma = 1 + regular
    if min(row) < 0:
        return None
    if code == _START:
        read, written = Place(SCRATCH, first), Place(SCRATCH, second)
        return Operation(Kind.START, read, written, device=device, semaphore=dma + semaphore, send=dma + more)
    if code in _MOVES and (device, semaphore, more) == (0, 0, 0):
        read, written = Place(_MOVES[code][0], first), Place(_MOVES[code][1], second)
        return Operation(Kind.ADD if code == _ADD else Kind.COPY, read, written)
    if (first, second) != (0, 0) or not 1 <= more <= MOST_COUNT:
        return None
    own = {_WAIT_DMA: dma + semaphore, _WAIT: 1 + semaphore, _SIGNAL: 1 + semaphore, _WAIT_BARRIER: 0, _SIGNAL_BARRIER: 0}.get(code)
    is_wrong = (code == _WAIT_DMA and more > 1) or (own == BARRIER and semaphore)
    if own is None or is_wrong or (code in (_WAIT, _SIGNAL) and semaphore >= regular):
        return None
    if code in (_SIGNAL, _SIGNAL_BARRIER):
        return Operation(Kind.SIGNAL, device=device, semaphore=own, times=more)
    return None if device else Operation(Kind.WAIT, semaphore=own, times=more)
