"""Collectives of several groups at once: times of joint schedules where they start together, and between these elsewhere."""

from collections.abc import Sequence
from fractions import Fraction

import pytest

import certree.api as ct
from certree.extras.training.model.queue import Asked, Order, Shared
from certree.extras.training.model.workload import Communication
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind
from tests.cli.running import certree

ALONE = {"data": 10, "tensor": 6}
BOTH = {"data": 13, "tensor": 8}
SMALL = "transformer:layers=1,width=64,heads=4,sequence=64,tensor=2,data=2"


def timer(asked: Sequence[Communication]) -> list[Fraction]:
    times = ALONE if len(asked) == 1 else BOTH
    return [Fraction(times[one.group]) for one in asked]


def ends(*asked: tuple[str, int, int], tick: Fraction = Fraction(1)) -> list[Fraction]:
    """When collectives end that are asked for by (group, time, priority)."""
    server = Shared(timer, Order.FIFO, tick)
    entries = []
    for number, (group, time, priority) in enumerate(asked):
        of = Communication(CollectiveKind.ALL_REDUCE, 64, group)
        entries.append(Asked(of, Fraction(time), priority, number, 0, "forward", 0))
        server.ask(entries[-1])
    found = [server.end(entry) for entry in entries]
    for entry in entries:
        assert all(first[1] <= second[0] for first, second in zip(entry.served, entry.served[1:], strict=False))
        assert entry.served[-1][1] == entry.ended
    return found


def test_alone_and_from_a_common_start() -> None:
    assert ends(("data", 5, 0)) == [15]
    assert ends(("data", 0, 0), ("tensor", 0, 0)) == [13, 8]
    assert ends(("data", 0, 0), ("tensor", 20, 0)) == [10, 26]


def test_those_that_start_later_are_between() -> None:
    # of data 4 of 10 are left, at 5/8 of its speed: 6.4 later it has ended, when tensor has done 4.8 of its 6
    assert ends(("data", 0, 0), ("tensor", 6, 0), tick=Fraction(1, 10)) == [Fraction(124, 10), Fraction(136, 10)]
    assert ends(("data", 0, 0), ("tensor", 6, 0)) == [13, 14]  # rounded up to whole ticks


def test_one_of_a_group_at_a_time_by_priority() -> None:
    assert ends(("data", 0, 0), ("data", 1, 0), ("data", 2, 1)) == [10, 30, 20]


def test_training_on_joint_schedules() -> None:
    """All groups of ranks count: of tensor as many as of data, on links that both use."""
    found = certree("train", SMALL, "ring:4", "--iterations", "1", "--joint-links", "--what-if", "links=joint-turns")
    assert found.code == 0
    assert "all groups of ranks at once" in found.out
    each, other = (float(line.split(": ")[1].split(" ")[0]) for line in (found.out.splitlines()[0], found.out.splitlines()[-1]))
    assert each <= other


def test_what_does_not_go_with_joint_links() -> None:
    for options in ({"pieces": 2}, {"timing": "slotted"}):
        with pytest.raises(InputError, match="joint links are for timing closed-form and one piece"):
            ct.train(SMALL, "ring:4", joint=True, **options)
    with pytest.raises(InputError, match="group tensor has a network of its own"):
        ct.train(SMALL, "ring:4", groups={"tensor": "ring:2"}, joint=True)
