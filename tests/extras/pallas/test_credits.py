"""A kernel by hand: a ring all-reduce with two slots, in which each device tells its left neighbour when a slot is free."""

import pytest

from certree.extras.pallas.check.kernel_checker import verify_kernel
from certree.extras.pallas.model.kernel_plan import INPUT, OUTPUT, SCRATCH, KernelPlan, Kind, Operation, Place
from certree.extras.runtimes.model.layout import Layout
from certree.models.schedule.collective import CollectiveKind
from tests.extras.pallas.kernel_interleavings import faults
from tests.extras.pallas.small_kernels import copy, signal, wait

FREE, SENT = 2, 3  # semaphores: credits (a regular one), and the first one of DMAs


def ring(ranks: int, *, credits: bool = True, early: bool = False, arrivals: int = 2) -> KernelPlan:
    """`credits`: whether devices wait until a slot is free; `early`: that is told before its row was sent; `arrivals`: how many
    semaphores these have."""
    programs = []
    for me in range(ranks):
        left, right = (me - 1) % ranks, (me + 1) % ranks
        found = []
        for semaphore in range(2):
            found += [signal(left, semaphore), signal(right, semaphore), wait(semaphore, 2)]
        found += [copy(Place(INPUT, 0), Place(OUTPUT, 0)), copy(Place(INPUT, 0), Place(SCRATCH, 0))]
        for step in range(ranks - 1):
            old, new = Place(SCRATCH, step % 2), Place(SCRATCH, (step + 1) % 2)
            arrived = SENT + 1 + (step + 1) % 2 % arrivals
            told = [signal(left, FREE)] if credits and step < ranks - 2 else []
            found += [wait(FREE)] if credits and step else []
            found.append(Operation(Kind.START, old, new, device=right, semaphore=arrived, send=SENT))
            found += told if early else []
            found += [wait(SENT), wait(arrived), Operation(Kind.ADD, new, Place(OUTPUT, 0))]
            found += [] if early else told
        programs.append(tuple(found))
    return KernelPlan(Layout(CollectiveKind.ALL_REDUCE, ranks, 1), 1, "ring", 2, 2, 3, tuple(programs))


@pytest.mark.parametrize("arrivals", [1, 2])
@pytest.mark.parametrize("ranks", [3, 4, 6])
def test_with_credits_it_is_right(ranks: int, arrivals: int) -> None:
    assert verify_kernel(ring(ranks, arrivals=arrivals)).valid


def test_without_credits_a_slot_is_overwritten() -> None:
    verdict = verify_kernel(ring(4, credits=False)).verdict
    assert verdict.counts.keys() == {"early-reuse", "unawaited-arrival"}  # a device may be two steps ahead of its neighbour
    messages = [one.message for one in verdict.violations]
    assert (
        "the DMA of device 0, operation 12 may overwrite scratch 0 of device 1 before the DMA of device 1, operation 8 has read it"
        in messages
    )


def test_a_credit_given_too_early() -> None:
    """The slot is told to be free while the device may still send from it."""
    assert verify_kernel(ring(4, early=True)).verdict.counts.keys() == {"early-reuse"}


@pytest.mark.parametrize(("options", "truth"), [({}, set()), ({"credits": False}, {"race", "data"}), ({"early": True}, {"race"})])
def test_all_interleavings_agree(options: dict[str, bool], truth: set[str]) -> None:
    """Three devices, in one call; whether the other data can come to be follows from the race."""
    assert faults(ring(3, **options), most=1_000_000, calls=1) - {"data"} == truth - {"data"}
