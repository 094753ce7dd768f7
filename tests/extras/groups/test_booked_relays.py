"""Method `booked-relays`: schedules are right by a second opinion and in a run, use relays, and are ahead where paths are long."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

import certree.api as ct
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.schedule.collective import CollectiveKind
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.synth.packing.branchings import KINDS
from certree.verify.checker import verify_schedule
from tests.extras.groups import test_relays
from tests.extras.groups.carried import relays_of
from tests.extras.groups.test_relays import NETWORKS, asked, drawn_group
from tests.synth.execution import ask

made = partial(test_relays.made, method="booked-relays")


@pytest.mark.parametrize("seed", range(10))
def test_values(seed: int) -> None:
    draws = Random(seed)
    network, kind = draws.choice(NETWORKS), draws.choice((CollectiveKind.ALL_REDUCE, *KINDS))
    schedule = made(network, kind, drawn_group(draws, network), 1 << draws.randrange(8, 18), seed=seed)
    assert verify_schedule(schedule).valid
    assert ct.second_opinion(schedule).valid
    run = ct.simulate(schedule)
    assert run.data_ok
    assert not run.late
    assert run.cycles == fine_times(schedule).cycles


@pytest.mark.parametrize(
    ("network", "members", "gain"),
    [("fattree:4x4", (0, 3, 5, 6, 7, 9, 11, 12, 14), 1.3), ("h100:4", (0, 8, 16, 24), 1.2), ("torus:4x4", (0, 1, 5, 9), 1.0)],
)
def test_gain(network: str, members: tuple[int, ...], gain: float) -> None:
    """Over the same trees in slots that repeat."""
    booked = made(network, "all-reduce", members, 1 << 16)
    request = asked(network, "all-reduce", members, 1 << 16)
    slotted = load_methods()["relays"](request)
    assert relays_of(booked)
    assert request.cycles(booked) * gain < request.cycles(slotted)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match=r"^booked-relays is for collectives of some endpoints; here all take part$"):
        load_methods()["booked-relays"](ask("ring:4"))
    assert made("ring:4", "all-reduce", (0, 2), chunks=7).chunks == 7
    with pytest.raises(UnsupportedError, match=r" steps"):
        made("ring:4", "all-reduce", (0, 2), chunks=3, steps=1)


def test_machines_that_do_not_take_it() -> None:
    """Messages through routers would be late; `relays` is refused for the same reason."""
    request = replace(asked("torus:3x3", "all-reduce", (0, 4, 8), 1 << 14), machine=load_machine("booksim2"))
    with pytest.raises(UnsupportedError, match="late"):
        load_methods()["booked-relays"](request)


def test_without_time_it_is_the_first_program() -> None:
    """An expired search still has a schedule."""
    request = asked("torus:4x4", "all-reduce", (0, 1, 2, 5), 1 << 16, monitor=Monitor(deadline=0.0))
    made = load_methods()["booked-relays"](request)
    assert verify_schedule(made).valid
