"""Collectives of several groups at once: times of joint schedules where they start together, and an estimate elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import certree.api as ct
from certree.extras.training.model.queue import Asked, Order, Shared
from certree.extras.training.model.workload import Communication
from certree.extras.training.run.reports import training_document, training_words
from certree.extras.training.run.timers import Timers
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from tests.cli.running import certree

ALONE = {"data": 10, "tensor": 6}
BOTH = {"data": 13, "tensor": 8}
SMALL = "transformer:layers=1,width=64,heads=4,sequence=64,tensor=2,data=2"


def timer(asked: Sequence[Communication]) -> list[Fraction]:
    times = ALONE if len(asked) == 1 else BOTH
    return [Fraction(times[one.group]) for one in asked]


def ends(*asked: tuple[str, int, int], tick: Fraction = Fraction(1), estimated: bool = False) -> list[Fraction]:
    """When collectives end that are asked for by (group, time, priority), which is `estimated` or not."""
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
    assert server.estimated == estimated
    return found


def test_alone_and_from_a_common_start() -> None:
    assert ends(("data", 5, 0)) == [15]
    assert ends(("data", 0, 0), ("tensor", 0, 0)) == [13, 8]
    assert ends(("data", 0, 0), ("tensor", 20, 0)) == [10, 26]


def test_those_that_start_later_are_estimated() -> None:
    # of data 4 of 10 are left, at 5/8 of its speed: 6.4 later it has ended, when tensor has done 4.8 of its 6
    assert ends(("data", 0, 0), ("tensor", 6, 0), tick=Fraction(1, 10), estimated=True) == [Fraction(124, 10), Fraction(136, 10)]
    assert ends(("data", 0, 0), ("tensor", 6, 0), estimated=True) == [13, 14]  # rounded up to whole ticks
    assert ends(("data", 0, 0), ("tensor", 0, 0), ("tensor", 0, 0), estimated=True)[1] == 8  # the second begins after the first


def test_one_of_a_group_at_a_time_by_priority() -> None:
    assert ends(("data", 0, 0), ("data", 1, 0), ("data", 2, 1)) == [10, 30, 20]


def test_training_on_joint_schedules() -> None:
    """All groups of ranks count: of tensor as many as of data, on links that both use."""
    found = certree("train", SMALL, "ring:4", "--iterations", "1", "--joint-links", "--what-if", "links=joint-turns")
    assert found.code == 0
    assert "all groups of ranks at once, estimated where they do not start together\n" in found.out
    each, other = (float(line.split(": ")[1].split(" ")[0]) for line in (found.out.splitlines()[0], found.out.splitlines()[-1]))
    assert each <= other


def test_what_does_not_go_with_joint_links() -> None:
    for options in ({"pieces": 2}, {"timing": "slotted"}):
        with pytest.raises(InputError, match="joint links are for timing closed-form and one piece"):
            ct.train(SMALL, "ring:4", joint=True, **options)
    for options in ({"timing": "endpoints"}, {"timing": "aggregate"}):
        with pytest.raises(InputError, match="joint links are for timing closed-form and one piece"):
            ct.train("astra-resnet50", "ring:4", joint=True, **options)
    with pytest.raises(InputError, match="joint links are for the method auto, which joint schedules are made by; not ring"):
        ct.train(SMALL, "ring:4", joint=True, method="ring")
    run = ct.train(SMALL, "ring:4", what_if=["links=joint"], method="ring", iterations=1)
    assert (run.alternatives[0].reason or "").startswith("joint links are for the method auto")
    with pytest.raises(UnsupportedError, match="group tensor has a network of its own"):  # a reason in what-if
        ct.train(SMALL, "ring:4", groups={"tensor": "ring:2"}, joint=True)


def test_other_groups_of_ranks_are_other_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """What-if runs share what is known: a group elsewhere, or with links of other latency, has a time of its own."""

    def timed(self: Timers, asked: Sequence[Communication]) -> list[Fraction]:
        first = [self.settings.places(one.group)[0] for one in asked]
        return [Fraction(1 + sum(place or ()) + int(self.settings.network_scaled("data").latency.sum())) for place in first]

    monkeypatch.setattr(Timers, "_jointly", timed)
    network = ct.topology("ring:4")
    network = replace(network, latency=np.full(len(network.src), 2, np.int32))
    run = ct.train(SMALL, network, joint=True, iterations=1, what_if=["data=0,1;2,3", "latency=4"])
    alone = [
        ct.train(SMALL, network, joint=True, iterations=1, groups={"data": "0,1;2,3"}).seconds,
        ct.train(SMALL, replace(network, latency=4 * network.latency), joint=True, iterations=1).seconds,
    ]
    found = {one.change: one.seconds for one in run.alternatives}
    assert [found["data=0,1;2,3"], found["latency=4"]] == alone
    assert len({run.seconds, *alone}) == 3


def test_groups_of_ranks_that_are_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Timers, "_jointly", lambda _, asked: timer(asked))
    run = ct.train(SMALL, "ring:4", joint=True, iterations=1, groups={"tensor": "0,1"})
    assert ", of tensor only 1 with 2 of 4 endpoints" in training_words(training_document(run))
    assert "of tensor only 1 with 2 of 4 endpoints" in run.page()
