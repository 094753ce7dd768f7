"""Small kernels that are right, and what may be changed in them."""

import random
from dataclasses import replace

from certree.extras.pallas.model.kernel_plan import INPUT, OUTPUT, SCRATCH, KernelPlan, Kind, Operation, Place
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.roles import Roles
from certree.models.schedule.collective import CollectiveKind

SEND, RECEIVE = 2, 3  # semaphores, after those of the barriers


def wait(semaphore, count=1):
    return Operation(Kind.WAIT, semaphore=semaphore, times=count)


def signal(device, semaphore, count=1):
    return Operation(Kind.SIGNAL, device=device, semaphore=semaphore, times=count)


def copy(read, written):
    return Operation(Kind.COPY, read, written)


def exchange() -> KernelPlan:
    """Two devices that add what each has."""
    programs = []
    for me in range(2):
        other = 1 - me
        programs.append(
            (
                signal(other, 0),
                wait(0),
                signal(other, 1),
                wait(1),
                Operation(Kind.START, Place(INPUT, 0), Place(SCRATCH, 0), device=other, semaphore=RECEIVE, send=SEND),
                copy(Place(INPUT, 0), Place(OUTPUT, 0)),
                wait(RECEIVE),
                Operation(Kind.ADD, Place(SCRATCH, 0), Place(OUTPUT, 0)),
                wait(SEND),
            )
        )
    return KernelPlan(Layout(CollectiveKind.ALL_REDUCE, 2, 1), 1, "exchange", 1, 1, 2, tuple(programs))


def pass_on(count: int = 3, barriers: int = 2) -> KernelPlan:
    """A broadcast from device 0, from one device to the next, straight into the outputs. With one barrier of three devices, those
    at the ends can be a call ahead, and one of them is taken for the other."""
    programs = []
    for me in range(count):
        near = [one for one in (me - 1, me + 1) if 0 <= one < count]
        found = []
        for semaphore in range(barriers):
            found += [signal(one, semaphore) for one in near] + [wait(semaphore, len(near))]
        source = Place(INPUT, 0) if me == 0 else Place(OUTPUT, 0)
        found.append(copy(source, Place(OUTPUT, 0)) if me == 0 else wait(RECEIVE))
        if me + 1 < count:
            found.append(Operation(Kind.START, source, Place(OUTPUT, 0), device=me + 1, semaphore=RECEIVE, send=SEND))
            found.append(wait(SEND))
        programs.append(tuple(found))
    return KernelPlan(Layout(CollectiveKind.BROADCAST, count, 1, 0), 1, "pass on", 0, 1, 2, tuple(programs))


def third_call() -> KernelPlan:
    """A broadcast from device 0 to 4, past three others, that is right in two calls and wrong in a third one: a device that is two
    calls ahead signals in the place of another one."""
    start = Operation(Kind.START, Place(INPUT, 0), Place(OUTPUT, 0), device=4, semaphore=2, send=1)
    programs = (
        (wait(0, 3), copy(Place(INPUT, 0), Place(OUTPUT, 0)), start, wait(1)),
        (signal(0, 0),),
        (wait(0), signal(0, 0)),
        (wait(0), signal(0, 0)),
        (signal(2, 0), signal(3, 0), wait(2)),
    )
    layout = Layout(CollectiveKind.BROADCAST, 5, 1, 0, Roles(members=(0, 4)))
    return KernelPlan(layout, 3, "third call", 1, 0, 2, programs)


def wide() -> KernelPlan:
    """A broadcast of two rows from one device to another, with a local DMA of two rows and one between them."""
    own = Place(OUTPUT, 0)
    entries = [(signal(other, 0), wait(0), signal(other, 1), wait(1)) for other in (1, 0)]
    sends = (
        Operation(Kind.START, Place(INPUT, 0), own, rows=2, device=0, semaphore=SEND),
        wait(SEND, 2),
        Operation(Kind.START, own, own, rows=2, device=1, semaphore=RECEIVE, send=SEND),
        wait(SEND, 2),
    )
    programs = ((*entries[0], *sends), (*entries[1], wait(RECEIVE), wait(RECEIVE)))
    return KernelPlan(Layout(CollectiveKind.BROADCAST, 2, 2, 0), 1, "wide", 0, 1, 2, programs)


def replaced(plan: KernelPlan, device: int, number: int, *new: Operation) -> KernelPlan:
    """The plan with other operations in the place of one."""
    found = plan.operations[device]
    changed = (*found[:number], *new, *found[number + 1 :])
    return replace(plan, operations=(*plan.operations[:device], changed, *plan.operations[device + 1 :]))


def drawn(chosen: random.Random) -> KernelPlan:
    """One of the small kernels with up to two changes."""
    plan = chosen.choice([exchange, wide, lambda: pass_on(2), pass_on, lambda: pass_on(3, 1)])()
    for _ in range(chosen.choice([0, 1, 1, 1, 2, 2])):
        device = chosen.randrange(plan.ranks)
        number = chosen.randrange(len(plan.operations[device]))
        one, found = plan.operations[device][number], plan.operations[device]
        change = chosen.randrange(8)
        if change == 0 and len(found) > 1:
            plan = replaced(plan, device, number)
        elif change == 1 and number + 1 < len(found):
            plan = replaced(replaced(plan, device, number + 1, one), device, number, found[number + 1])
        elif change == 2 and one.kind in (Kind.WAIT, Kind.SIGNAL):
            plan = replaced(plan, device, number, one._replace(times=chosen.randint(1, 2)))
        elif change == 3 and one.semaphore >= 0:
            kinds = (2, 3) if plan.is_dma(one.semaphore) else (0, 1)
            plan = replaced(plan, device, number, one._replace(semaphore=chosen.choice(kinds)))
        elif change == 4:
            place = chosen.randrange(len(found))
            plan = replaced(plan, device, place, found[place], one)
        elif change > 4:
            plan = replaced(plan, device, number)
            place = chosen.randrange(len(found) - 1)
            plan = replaced(plan, device, place, *chosen.choice([(one, found[place]), (plan.operations[device][place], one)]))
    return plan
