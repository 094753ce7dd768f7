"""Loops against event lists that were written down by hand."""

from fractions import Fraction

import pytest

from certree.extras.training.model.queue import Order, Queue, Together
from certree.extras.training.model.training import covered, train
from certree.extras.training.model.workload import Act, Communication, Layer, Loop, Part, Phase, Workload
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind

REDUCE, EXCHANGE, GATHER = CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_TO_ALL, CollectiveKind.ALL_GATHER


def seconds(asked: Communication) -> Fraction:
    """A byte takes a second."""
    return Fraction(asked.bytes)


def reduced(size: int, cycles: int = 1) -> Part:
    return Part(cycles, Communication(REDUCE, size))


def data(*sizes: int, update: int = 0) -> Workload:
    """Layers of 1, 1 and 1 cycles at 1 Hz."""
    layers = tuple(Layer(f"l{number}", Part(1), Part(1), reduced(size), update) for number, size in enumerate(sizes))
    return Workload("made", Loop.DATA, Fraction(1), layers)


def run(workload: Workload, order: Order = Order.FIFO, pieces: int = 1, iterations: int = 1):
    groups = {found.group for found in workload.communications()}
    return train(workload, {group: Queue(seconds, order, pieces) for group in groups}, iterations)


def ends(found) -> dict[str, Fraction]:
    """When each collective of the first iteration ended."""
    layers = found.workload.layers
    return {f"{layers[one.layer].name} {one.phase}": one.ended for one in found.collectives if one.iteration == 0}


def test_data_loop_first_in_first_out():
    # forward 0-3; weight gradient of l2 3-4, its collective of 10 at 4-14; input gradient 4-5; l1 5-6, asked at 6: 14-16;
    # l0 7-8: 16-19
    found = run(data(3, 2, 10), iterations=2)
    assert ends(found) == {"l2 weight-gradient": 14, "l1 weight-gradient": 16, "l0 weight-gradient": 19}
    # the second pass: l0 waits until 19, all others are there; forward 19-22, backward 22-27, the last collective ends at 22 + 16
    assert found.ends == (8, 38)
    assert found.by_layer(Act.WAIT) == [11 + 11, 0, 0]
    assert found.total(Act.COMPUTE) == 2 * 8
    assert found.busy("all") == 2 * 15


def test_data_loop_last_in_first_out():
    # the network is busy with l2 until 14; then l0 (asked at 8) before l1 (asked at 6)
    found = run(data(3, 2, 10), Order.LIFO)
    assert ends(found) == {"l2 weight-gradient": 14, "l0 weight-gradient": 17, "l1 weight-gradient": 19}
    assert found.seconds == 19
    # waits 8-17 for l0, 17-19 for l1
    assert found.by_layer(Act.WAIT) == [9, 2, 0]
    # while waiting the network serves l2 (8-14), l0 (14-17) and l1 (17-19)
    assert found.served_while_waiting() == [3, 2, 6]


def test_pieces_let_a_later_collective_in():
    # pieces of 5: l2 4-9; at 9 l0 (2 pieces) and l1 (2 pieces) wait, the latest first: l0 9-12, l1 12-14, l2 14-19
    found = run(data(3, 2, 10), Order.LIFO, pieces=2)
    assert ends(found) == {"l0 weight-gradient": 12, "l1 weight-gradient": 14, "l2 weight-gradient": 19}
    assert [one.served for one in found.collectives] == [[(4, 9), (14, 19)], [(12, 14)], [(9, 12)]]


def test_requests_at_the_moment_of_choice_are_among_the_choices():
    # l2 is served 4-6 and l1 asked for at 6
    found = run(data(3, 2, 2), Order.LIFO, pieces=1)
    assert ends(found) == {"l2 weight-gradient": 6, "l1 weight-gradient": 8, "l0 weight-gradient": 11}


def test_update_takes_its_time_behind_a_collective():
    assert run(data(3, 2, 10, update=7)).seconds == 19 + 7


def test_first_input_gradient():
    workload = data(3)
    plain = run(workload).seconds
    more = Workload("made", Loop.DATA, Fraction(1), workload.layers, first_input_gradient=True)
    assert (plain, run(more).total(Act.COMPUTE)) == (2 + 3, 3)


def test_all_gradients_at_the_end():
    found = run(data(3, 2, 10).all_at_the_end())
    assert ends(found) == {"all gradients weight-gradient": 8 + 15}
    assert found.total(Act.COMPUTE) == 8


def test_model_loop():
    part = Part(2, Communication(GATHER, 3)), Part(2, Communication(REDUCE, 4))
    layers = tuple(Layer(f"l{number}", *part, Part(1)) for number in range(2))
    # forward: 0-2, waits to 5, 5-7, to 10; backward l1: 10-12, asked at 12, weight gradient 12-13, waits until 16; l0: 16-18-19
    found = run(Workload("made", Loop.MODEL, Fraction(1), layers))
    assert ends(found) == {"l0 forward": 5, "l1 forward": 10, "l1 input-gradient": 16}
    assert found.seconds == 19
    assert (found.exposed(Phase.FORWARD), found.exposed(Phase.INPUT_GRADIENT)) == (6, 3)


def test_hybrid_loop_has_a_network_for_each_group():
    parts = (
        Part(1, Communication(GATHER, 2, "in")),
        Part(1, Communication(REDUCE, 5, "in")),
        Part(1, Communication(REDUCE, 9, "out")),
    )
    layers = tuple(Layer(f"l{number}", *parts) for number in range(2))
    # forward to 6; l1: 6-7, "in" 7-12, weight gradient 7-8, "out" 8-17, waits until 12; l0: 12-13, 13-14, "out" 17-26
    found = run(Workload("made", Loop.HYBRID, Fraction(1), layers))
    assert ends(found)["l1 input-gradient"] == 12
    assert ends(found)["l0 weight-gradient"] == 26
    assert (found.busy("in"), found.busy("out")) == (2 + 2 + 5, 18)


def test_dlrm_loop():
    embedding = Layer("e", Part(1, Communication(EXCHANGE, 6)), Part(1, Communication(EXCHANGE, 6)), Part(1))
    others = [Layer(name, Part(1), Part(1), reduced(4)) for name in ("b", "t")]
    # forward: e 0-1, exchange 1-7; b 1-2, waits until 7; t 7-8. Backward: t 8-9, reduce 9-13, input gradient 9-10, exchange of the
    # embedding asked at 10, goes 13-19 before that of b; b 10-11, reduce asked at 11: 19-23; 11-12; e 12-13, waits until 19
    found = run(Workload("made", Loop.DLRM, Fraction(1), (embedding, *others), last_bottom=1), iterations=2)
    assert ends(found) == {"e forward": 7, "t weight-gradient": 13, "e input-gradient": 19, "b weight-gradient": 23}
    assert found.ends[0] == 19
    # e 19-20, its exchange before all others but behind b's, 23-29; b waits until 23: 23-24, then 29; t 29-30
    assert next(one for one in found.collectives if one.iteration == 1).ended == 29


def test_a_pipeline_idles_for_every_other_stage():
    layers = (Layer("l", Part(2), Part(3), reduced(4, cycles=1)),)
    found = run(Workload("made", Loop.HYBRID, Fraction(1), layers, stages=3, micro_batches=5))
    assert found.total(Act.IDLE) == 2 * 6
    assert found.seconds == (5 + 3 - 1) * 6 + 4


def test_joint_simulators_see_when_collectives_are_asked_for():
    seen = []

    def timer(asked):
        seen.append([(begin, one.bytes) for begin, one in asked])
        return [begin + 100 for begin, _ in asked]

    found = train(data(3, 2), {"all": Together(timer)}, 2)
    assert seen == [[(0, 2), (2, 3)]] * 2
    # forward 0-2; l1 asked at 3, l0 at 5; they end at 103 and 105; forward 105-107; asked at 108 and 110
    assert [one.asked for one in found.collectives] == [3, 5, 108, 110]
    assert found.ends == (5, 210)


def test_collectives_that_overlap_a_wait_do_not_run_together():
    parts = Part(1, Communication(GATHER, 2)), Part(1), Part(1, Communication(REDUCE, 9))
    workload = Workload("made", Loop.HYBRID, Fraction(1), tuple(Layer(f"l{number}", *parts) for number in range(2)))
    with pytest.raises(UnsupportedError, match="while others that were waited for are under way"):
        train(workload, {"all": Together(lambda asked: [99 - begin for begin, _ in asked])}, 2)  # the first asked for ends last


def test_covered():
    assert (
        covered([(Fraction(0), Fraction(3)), (Fraction(2), Fraction(5)), (Fraction(7), Fraction(8)), (Fraction(1), Fraction(2))])
        == 6
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"layers": ()}, "no layers"),
        ({"last_bottom": 1}, "last_bottom is for the dlrm loop"),
        ({"loop": Loop.DLRM}, "which needs it"),
        ({"loop": Loop.DLRM, "last_bottom": 2}, "last_bottom is 2; allowed: 1 to 1"),
        ({"layers": (Layer("x", reduced(1), Part(), Part()),)}, "layer x: the data loop has collectives of weight gradients only"),
    ],
)
def test_refused(change, reason):
    given = {"loop": Loop.DATA, "layers": data(1, 2, 3).layers} | change
    with pytest.raises(InputError, match=reason):
        Workload("made", clock_hertz=Fraction(1), **given)
