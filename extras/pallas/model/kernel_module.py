"""Python modules for Pallas with a kernel plan: the template `device/kernel_template.py` with other constants."""

from collections.abc import Mapping

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
from certree.extras.xla.model.packed import packed, unpacked
from certree.extras.xla.model.permute_program import Int64
from certree.extras.xla.model.template_module import Parts, Template, block_of, layout_line, layout_of, whole
from certree.models.common.errors import InputError, UnsupportedError, short

MARK = b"# certree-pallas 1\n"
SUFFIX = ".py"
FIELDS = 6
MOST_LISTED = 1 << 14  # operations of all devices of a module that lists them
MOST_OF_DEVICE = 1 << 14  # operations: 6 numbers of 4 bytes each, in scalar memory
MOST_OF_KERNEL = 256  # semaphores
VMEM_BYTES = 16 << 20  # of a device; modules have this number, too
TILE_BYTES = 4096  # to a multiple of which a row is padded
_SIZES = ("CHUNKS", "REPEATS", "INPUT", "OUTPUT", "SCRATCH", "REGULAR", "DMA")
_SIGNATURE = 'x, axis_name, op="sum", interpret=False, collective_id=0'
_TEMPLATE = Template("certree.extras.pallas.device", "kernel_template.py", _SIGNATURE, (*_SIZES, "OPERATIONS"))
_START, _WAIT_DMA, _WAIT, _WAIT_BARRIER, _SIGNAL, _SIGNAL_BARRIER, _LOAD, _STORE, _COPY, _ADD = range(1, 11)
_MOVES = {_LOAD: (INPUT, SCRATCH), _STORE: (SCRATCH, OUTPUT), _COPY: (SCRATCH, SCRATCH), _ADD: (SCRATCH, SCRATCH)}


def written_module(plan: KernelPlan) -> bytes:
    """The module of a plan. The same plan gives the same bytes. UnsupportedError for what the code of modules does not do, and for
    more semaphores and operations than a kernel may have."""
    if (beyond := _beyond(plan)) is not None:
        raise UnsupportedError(beyond)
    return _TEMPLATE.written(plan.layout, plan.about, _constants(plan))


def _beyond(plan: KernelPlan) -> str | None:
    """The limit that a kernel exceeds, in words, or None."""
    if plan.semaphores > MOST_OF_KERNEL:
        return f"a kernel with {plan.semaphores} semaphores; allowed: up to {MOST_OF_KERNEL}"
    if (most := max(map(len, plan.operations))) > MOST_OF_DEVICE:
        return f"a kernel with {most} operations of a device; allowed: up to {MOST_OF_DEVICE}"
    if (used := vmem_bytes(plan, 1)) > VMEM_BYTES:
        return f"a kernel whose rows take {used:,} bytes of vector memory or more; allowed: up to {VMEM_BYTES:,}"
    return None


def vmem_bytes(plan: KernelPlan, row_bytes: int) -> int:
    """The number of bytes of vector memory that all rows of a device take, padded to whole tiles."""
    return sum(plan.rows) * TILE_BYTES * -(-row_bytes // TILE_BYTES)


def _constants(plan: KernelPlan) -> str:
    sizes = (block_of(plan.layout), plan.repeats, *plan.rows, plan.regular, plan.dma)
    lines = [layout_line(plan.layout), f"{', '.join(_SIZES)} = {', '.join(map(str, sizes))}"]
    found = np.zeros((plan.ranks, max(map(len, plan.operations)), FIELDS), np.int64)
    for device, number, one in plan:
        found[device, number] = _numbers(plan, device, number, one)
    if found.shape[0] * found.shape[1] > MOST_LISTED:
        return "\n".join([*lines, f"OPERATIONS = {packed(found, as_list=False)}", ""])
    lines += [
        f"OPERATIONS = [\n{_TEMPLATE.comment}    [",
        "    ],\n    [\n".join(_listed(rows) for rows in found.tolist()) + "    ],",
        "]",
        "",
    ]
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
    parts = _TEMPLATE.parts(data, where)
    try:
        plan = _plan(parts)
        plan.require_fits()
        if (beyond := _beyond(plan)) is not None:
            raise InputError(beyond)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    _TEMPLATE.require_head(parts, plan.layout, where)
    return plan


def _plan(parts: Parts) -> KernelPlan:
    values = parts.values
    ranks = whole(values, "RANKS", 2, MOST_RANKS)
    chunks, repeats = (whole(values, one, 1, MOST_ROWS) for one in ("CHUNKS", "REPEATS"))
    scratch = whole(values, "SCRATCH", 0, MOST_ROWS)
    regular, dma = (whole(values, one, 0, MOST_SEMAPHORES) for one in ("REGULAR", "DMA"))
    layout = layout_of(values, ranks, chunks)
    numbers = unpacked(values["OPERATIONS"], 3, "OPERATIONS")
    if numbers.shape[0] != ranks or numbers.shape[2] != FIELDS or numbers.size > FIELDS * MOST_OPERATIONS:
        raise InputError(f"OPERATIONS are {numbers.shape} numbers; expected {ranks} devices, and {FIELDS} of each operation")
    operations = tuple(_operations(rows, regular, device, parts.lines) for device, rows in enumerate(numbers))
    plan = KernelPlan(layout, repeats, parts.about, scratch, regular, dma, operations, parts.lines)
    if plan.rows[:2] != (values["INPUT"], values["OUTPUT"]):
        stated = f"{short(values['INPUT'])} and {short(values['OUTPUT'])}"
        raise InputError(f"INPUT and OUTPUT are {stated}; expected {plan.rows[0]} and {plan.rows[1]}")
    return plan


def _operations(rows: Int64, regular: int, device: int, lines: Mapping[tuple[int, int], int]) -> tuple[Operation, ...]:
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
