"""Method `apart`, and what `auto` chooses for groups: never slower than without relays."""

import pytest

import certree.api as ct
from certree.models.common.errors import UnsupportedError
from certree.synth.method import load_methods
from certree.verify.checker import verify_schedule
from tests.extras.groups.carried import relays_of, run_with_values
from tests.extras.groups.test_relays import asked
from tests.synth.execution import ask

GROUPS = [
    ("mesh:2x3", "all-reduce", (0, 1, 2), 256),
    ("fattree:4x4", "all-gather", (0, 1, 4, 5), 1 << 12),
    ("h100:2", "broadcast", (0, 1, 8), 1 << 14),
    ("mesh:3x3", "all-to-all", (0, 1, 3, 4), 1 << 12),
]


@pytest.mark.parametrize(("network", "kind", "members", "size"), GROUPS)
def test_never_slower_than_without_relays(network: str, kind: str, members: tuple[int, ...], size: int) -> None:
    request = asked(network, kind, members, size)
    group = request.collective
    with_relays = ct.synthesize(network, group, size=size, machine=request.machine)
    without = ct.synthesize(network, group, size=size, machine=request.machine, relay="members")
    assert request.cycles(with_relays) <= request.cycles(without)


def test_the_others_do_nothing() -> None:
    made = load_methods()["apart"](asked("torus:4x4", "all-reduce", (0, 1, 4, 5), 1 << 10))
    assert verify_schedule(made).valid
    assert not relays_of(made)
    assert made.topology.name == "torus:4x4"
    if not made.has_fine_slots:
        run_with_values(made)


def test_refusals() -> None:
    apart = load_methods()["apart"]
    with pytest.raises(UnsupportedError, match=r"^apart is for collectives of some endpoints; here all take part$"):
        apart(ask("ring:4"))
    with pytest.raises(UnsupportedError, match=r"^apart: members do not reach each other without the other endpoints$"):
        apart(asked("ring:6", "all-reduce", (0, 2)))
    request = asked("torus:4x4", "all-reduce", (0, 1, 2, 3), 1 << 24)
    request.offer(load_methods()["relays"](request))
    with pytest.raises(UnsupportedError, match=r"^apart takes at least \d+ cycles; \d+ are known$"):
        apart(request)


def test_an_all_to_all_that_only_lengths_exclude() -> None:
    """Half of a torus has half of the links across its middle; what is known at once does not see it."""
    request = asked("torus:4x4", "all-to-all", tuple(range(8)), 1 << 20)
    request.offer(load_methods()["flows"](request))
    assert request.monitor.best_cycles == 20486
    with pytest.raises(UnsupportedError, match=r"^apart takes at least 32927 cycles; 20486 are known$"):
        load_methods()["apart"](request)
    alone = ct.synthesize("torus:4x4", request.collective, size=1 << 20, relay="members")
    assert request.cycles(alone) >= 32927
