"""Pairs of events of a kernel of which the first must precede the second in every run, and what is wrong where it does not."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from certree.extras.pallas.check.kernel_events import Events
from certree.extras.pallas.model.kernel_plan import BARRIER, Kind, Place
from certree.models.common.budget import PYTHON, spend


class Pair(NamedTuple):
    """Two events of which the first must precede the second, and what is wrong where it does not."""

    first: int
    second: int
    rule: str
    message: str


class _Access(NamedTuple):
    """An access of a row: from one event to another. `key`: (call, device, number) of the operation."""

    begin: int
    end: int
    key: tuple[int, int, int]
    writes: bool
    adds: bool
    by_dma: bool


def between_calls(events: Events) -> list[tuple[int, int]]:
    """The last wait of every device on its barrier semaphore in the first call, with every signal to it in the second one."""
    plan = events.plan
    waits = {device: number for device, number, one in plan if one.kind is Kind.WAIT and one.semaphore == BARRIER}
    signals = [(device, number, one.device) for device, number, one in plan if one.kind is Kind.SIGNAL and one.semaphore == BARRIER]
    return [
        (events.operation[0, target, waits[target]], events.operation[call, device, number])
        for call in range(1, events.calls)
        for device, number, target in signals
        if target in waits
    ]


def in_calls(events: Events) -> Iterator[Pair]:
    """Conditions that must hold while devices are in a call."""
    plan = events.plan
    for (call, device, number), event in events.operation.items():
        one, where = plan.operations[device][number], plan.where(device, number)
        if one.kind is Kind.SIGNAL and one.semaphore != BARRIER and one.device != device:
            name = f"{plan.semaphore(one.semaphore)} of device {one.device}"
            yield Pair(events.entry[call, one.device], event, "not-entered", f"{where} signals {name}, which may not have entered")
            message = f"{where} signals {name}, which may have left by then"
            yield Pair(event, events.end[call, one.device], "left-running", message)
        if one.kind is not Kind.START:
            continue
        if one.device != device:
            message = f"{where} starts a DMA to device {one.device}, which may not have entered"
            yield Pair(events.entry[call, one.device], event, "not-entered", message)
        arrived, sent = events.arrived[call, device, number], events.sent[call, device, number]
        message = f"{where}: its DMA may still write {one.written} of device {one.device} when that leaves"
        yield Pair(arrived, events.end[call, one.device], "left-running", message)
        if one.send >= 0:
            message = f"{where}: its DMA may still read {one.read} when device {device} leaves"
            yield Pair(sent, events.end[call, device], "left-running", message)


def of_rows(events: Events, position: list[int]) -> Iterator[Pair]:
    """The pairs of accesses of every row of which one must end before the other begins, those that follow each other in a run:
    where all these have a fixed order, all have. Accesses of two calls are apart where devices leave a call when all is over
    (`in_calls`)."""
    for (_, device, place), found in _accesses(events).items():
        found.sort(key=lambda one: (position[one.begin], position[one.end]))
        write: _Access | None = None
        reads: list[_Access] = []
        for one in found:
            before = reads if one.writes and reads else [] if write is None else [write]
            for other in before:
                if other.by_dma or other.key[1] != one.key[1]:  # else the device does one after the other
                    yield _pair(events, other, one, f"{place} of device {device}", is_first=write is None)
            if one.writes:
                write, reads = one, []
            else:
                reads.append(one)


def _accesses(events: Events) -> dict[tuple[int, int, Place], list[_Access]]:
    """All accesses, by call, device and row of it."""
    plan = events.plan
    found: defaultdict[tuple[int, int, Place], list[_Access]] = defaultdict(list)
    for key, event in events.operation.items():
        call, device, number = key
        one = plan.operations[device][number]
        if one.read is None or one.written is None:
            continue
        spend(PYTHON * one.rows, "the rows of a kernel")
        is_dma = one.kind is Kind.START
        # a local DMA has one semaphore: that it has written its rows says that it has read them
        sent = events.sent.get(key, event) if one.send >= 0 else events.arrived.get(key, event)
        read = _Access(event, sent, key, writes=False, adds=False, by_dma=is_dma)
        adds = one.kind is Kind.ADD
        written = _Access(event, events.arrived.get(key, event), key, writes=True, adds=adds, by_dma=is_dma)
        target = one.device if is_dma else device
        for row in range(one.rows):
            found[call, device, Place(one.read.buffer, one.read.row + row)].append(read)
            found[call, target, Place(one.written.buffer, one.written.row + row)].append(written)
    return found


def _pair(events: Events, first: _Access, second: _Access, what: str, *, is_first: bool) -> Pair:
    """The pair of events of two accesses, the first of which comes before in a run; `is_first`: nothing has written there before
    that, so that a read is too early."""
    names = [events.plan.where(*one.key[1:]) for one in (first, second)]
    dmas = [f"the DMA of {name}" if one.by_dma else name for one, name in zip((first, second), names, strict=True)]
    if first.writes and (not second.writes or second.adds):
        rule, message = "unawaited-arrival", f"{names[1]} reads {what}; {dmas[0]}, which writes it, may not have arrived"
    elif first.writes:
        rule, message = "kernel-race", f"{dmas[0]} and {dmas[1]} both write {what}, in no fixed order"
    elif is_first:
        rule, message = "unawaited-arrival", f"{names[0]} reads {what}; {dmas[1]}, which writes it, may not have arrived"
    else:
        rule, message = "early-reuse", f"{dmas[1]} may overwrite {what} before {dmas[0]} has read it"
    return Pair(first.end, second.begin, rule, message)
