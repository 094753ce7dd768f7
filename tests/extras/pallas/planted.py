"""Faults planted in kernels of schedules: what is changed, the rule that must be broken, and the operation that must be named."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from certree.extras.pallas.make.kernel_plans import SENDING
from certree.extras.pallas.model.kernel_plan import BARRIER, SCRATCH, KernelPlan, Kind, Operation, Place
from certree.models.schedule.collective import CollectiveKind
from tests.extras.pallas.small_kernels import replaced

#: (plan, rule, device and number of the operation, in the changed plan)
Planted = tuple[KernelPlan, str, tuple[int, int]]
READY, SENT = 1, 2  # semaphores: the second barrier, the first one for sending
ARRIVED = SENT + SENDING
FAULTS: dict[str, Callable[[KernelPlan, random.Random], Planted]] = {}


def fault(function: Callable[[KernelPlan, random.Random], Planted]) -> Callable[[KernelPlan, random.Random], Planted]:
    FAULTS[function.__name__] = function
    return function


def places(plan: KernelPlan, kind: Kind, is_one: Callable[[Operation], bool] = lambda one: True) -> list[tuple[int, int]]:
    return [(device, number) for device, number, one in plan if one.kind is kind and is_one(one)]


def arrivals(plan: KernelPlan) -> list[tuple[int, int]]:
    return places(plan, Kind.WAIT, lambda one: one.semaphore >= ARRIVED)


def starts_for(plan: KernelPlan, device: int, semaphore: int) -> list[tuple[int, int]]:
    """The DMAs that count up a semaphore of a device."""
    return places(plan, Kind.START, lambda one: (one.device, one.semaphore) == (device, semaphore))


def read_after(plan: KernelPlan, device: int, number: int) -> int:
    """The operation that uses what a wait is for."""
    slot = plan.operations[device][number].semaphore - ARRIVED
    found = plan.operations[device]
    first = min(one.written.row for at in range(plan.ranks) for one in plan.operations[at] if one.kind is Kind.START)
    return next(at for at in range(number, len(found)) if found[at].read == Place(SCRATCH, first + slot))


@fault
def wait_for_an_arrival_left_out(plan, chosen):
    device, number = chosen.choice(arrivals(plan))
    use = read_after(plan, device, number)
    return replaced(plan, device, number), "unawaited-arrival", (device, use - 1)


@fault
def wait_for_an_arrival_too_late(plan, chosen):
    device, number = chosen.choice(arrivals(plan))
    use, one = read_after(plan, device, number), plan.operations[device][number]
    changed = replaced(replaced(plan, device, use, plan.operations[device][use], one), device, number)
    return changed, "unawaited-arrival", (device, use - 1)


@fault
def wait_on_another_semaphore(plan, chosen):
    waits = [(device, number) for device, number in arrivals(plan) if others(plan, device, number)]
    device, number = chosen.choice(waits)
    other = chosen.choice(others(plan, device, number))
    return (
        replaced(plan, device, number, plan.operations[device][number]._replace(semaphore=other)),
        "semaphore-count",
        (device, number),
    )


def others(plan: KernelPlan, device: int, number: int) -> list[int]:
    own = plan.operations[device][number].semaphore
    return sorted({one.semaphore for one in plan.operations[device] if one.kind is Kind.WAIT and one.semaphore >= ARRIVED} - {own})


@fault
def dma_counts_up_another_semaphore(plan, chosen):
    found = [place for place in places(plan, Kind.START) if plan.dma > SENDING + 1]
    device, number = chosen.choice(found)
    one = plan.operations[device][number]
    other = ARRIVED + (one.semaphore - ARRIVED + 1) % (plan.dma - SENDING)
    return replaced(plan, device, number, one._replace(semaphore=other)), "semaphore-count", (device, number)


@fault
def dma_to_another_device(plan, chosen):
    device, number = chosen.choice(places(plan, Kind.START))
    one = plan.operations[device][number]
    other = next(at for at in range(plan.ranks) if at not in (device, one.device))
    return replaced(plan, device, number, one._replace(device=other)), "semaphore-count", (device, number)


@fault
def row_overwritten_while_it_is_sent(plan, chosen):
    """The wait until a DMA has read its row goes to the end of the device."""
    found = []
    for device, number in places(plan, Kind.WAIT, lambda one: SENT <= one.semaphore < ARRIVED):
        own = plan.operations[device]
        begin = max(at for at in range(number) if own[at].kind is Kind.START and own[at].send == own[number].semaphore)
        again = [at for at in range(number, len(own)) if own[at].kind is Kind.START and own[at].send == own[number].semaphore]
        writes = [at for at in range(number, len(own)) if own[at].written == own[begin].read and own[at].kind is not Kind.START]
        if writes and not again:
            found.append((device, number, begin, writes[0]))
    device, number, _, write = chosen.choice(found)
    own = plan.operations[device]
    changed = replaced(plan, device, len(own) - 1, own[-1], own[number])
    return replaced(changed, device, number), "early-reuse", (device, write - 1)


@fault
def slot_used_again_too_early(plan, chosen):
    """Two DMAs of a device come into one row, one right after the other."""
    found = []
    for device in range(plan.ranks):
        own = [(number, one) for number, one in enumerate(plan.operations[device]) if one.kind is Kind.START]
        found += [
            (device, number, one.written)
            for (number, one), (after, two) in pairwise(own)
            if one.device == two.device and one.written != two.written and after == number + 1
        ]
    device, number, first = chosen.choice(found)
    one = plan.operations[device][number + 1]
    changed = replaced(plan, device, number + 1, one._replace(written=first))
    return changed, "kernel-race", (device, number + 1)


@fault
def count_one_too_many(plan, chosen):
    device, number = chosen.choice(places(plan, Kind.WAIT, lambda one: one.semaphore == READY))
    one = plan.operations[device][number]
    return replaced(plan, device, number, one._replace(times=one.times + 1)), "kernel-deadlock", (device, number)


@fault
def count_one_too_few(plan, chosen):
    device, number = chosen.choice(places(plan, Kind.WAIT, lambda one: one.semaphore == BARRIER and one.times > 1))
    one = plan.operations[device][number]
    return replaced(plan, device, number, one._replace(times=one.times - 1)), "semaphore-count", (device, number)


@fault
def everybody_waits_before_sending(plan, chosen):
    """The first wait for an arrival of every device comes before its first DMA."""
    changed = []
    for device in range(plan.ranks):
        waits = [number for place, number in arrivals(plan) if place == device]
        starts = [number for place, number in places(plan, Kind.START) if place == device]
        if waits and starts and starts[0] < waits[0]:
            found = list(plan.operations[device])
            found.insert(starts[0], found.pop(waits[0]))
            plan = replace(plan, operations=(*plan.operations[:device], tuple(found), *plan.operations[device + 1 :]))
            changed.append(device)
    if len(changed) < plan.ranks:
        raise StopIteration  # somebody may send
    return plan, "kernel-deadlock", min(arrivals(plan))


def without(plan: KernelPlan, semaphores: tuple[int, ...]) -> KernelPlan:
    kept = tuple(
        tuple(one for one in found if one.kind not in (Kind.WAIT, Kind.SIGNAL) or one.semaphore not in semaphores)
        for found in plan.operations
    )
    return replace(plan, operations=kept)


@fault
def no_second_barrier(plan, chosen):
    """A device may be a call ahead of another one; where all need what all have, it may not."""
    if plan.layout.kind is not CollectiveKind.BROADCAST:
        raise StopIteration
    return without(plan, (READY,)), "not-entered", (-1, -1)


@fault
def no_barrier(plan, chosen):
    changed = without(plan, (BARRIER, READY))
    return changed, "not-entered", min(places(changed, Kind.START))


@fault
def last_wait_left_out(plan, chosen):
    """A device leaves while its last DMA may still read."""
    found = [device for device in range(plan.ranks) if any(one.kind is Kind.START for one in plan.operations[device])]
    device = chosen.choice(found)
    own = plan.operations[device]
    begin = max(at for at, one in enumerate(own) if one.kind is Kind.START and one.send == own[-1].semaphore)
    return replaced(plan, device, len(own) - 1), "left-running", (device, begin)


@fault
def copied_instead_of_added(plan, chosen):
    device, number = chosen.choice(places(plan, Kind.ADD))
    one = plan.operations[device][number]
    return replaced(plan, device, number, one._replace(kind=Kind.COPY)), "wrong-data", (-1, -1)


def planted(plan: KernelPlan, seed: int) -> Iterator[tuple[str, Planted]]:
    """Each fault that fits the plan."""
    chosen = random.Random(seed)
    for name, make in FAULTS.items():
        try:
            yield name, make(plan, chosen)
        except (IndexError, StopIteration):
            continue  # the plan has no such place
