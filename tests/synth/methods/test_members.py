"""Methods that make schedules among some endpoints, and the refusals of the others."""

from dataclasses import replace

import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask

NETWORKS = {
    "mesh:3x3": (0, 2, 4, 5, 8),
    "switch:6": (1, 3, 4),
    "fattree:3x2": (0, 3, 4, 5),
    "ring:6": (1, 4),
    "fattree:3x2,reducing=switches": (0, 3, 4, 5),
}


def asked(network: str, kind: CollectiveKind, members: tuple[int, ...], **fields):
    root = members[1] if kind in WITH_ONE_ROOT else None
    return replace(ask(network, str(kind), root=root, **fields), collective=Collective(kind, root, members))


@pytest.mark.parametrize("kind", CollectiveKind)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", [name for name in load_methods() if load_methods()[name].takes_members])
def test_schedules_are_valid(name: str, network: str, kind: CollectiveKind) -> None:
    """Or there is none for a reason that has nothing to do with members."""
    entry = load_methods()[name]
    monitor = Monitor(deadline=0.0 if entry.is_anytime else None)  # the first schedule of a search will do here
    request = asked(network, kind, NETWORKS[network], message_bytes=1 << 14, monitor=monitor)
    try:
        made = entry(request)
    except UnsupportedError as error:
        made, refusal = None, str(error)
    if made is None:
        assert ("members" not in refusal, name) != (True, "auto")
        return
    verdict = verify_schedule(made)
    assert verdict.valid, verdict.violations
    assert isinstance(made, Schedule)
    assert made.collective == request.collective
    ends = {*made.src.tolist(), *made.dst.tolist()} & set(request.topology.endpoints.tolist()) - set(NETWORKS[network])
    assert not ends or name in (
        "flows",
        "prepared-paths",
        "ordered",
        "ordered-trees",
        "booked-relays",
        "relays",
        "auto",
    )  # the others pass strangers on routes


@pytest.mark.parametrize("name", [name for name in load_methods() if not load_methods()[name].takes_members])
def test_other_methods_refuse_it(name: str) -> None:
    entry = load_methods()[name]
    with pytest.raises(
        UnsupportedError, match=rf"^method {name}: not supported for collectives of some endpoints only \(members\)$"
    ):
        entry(asked("ring:6", entry.collectives[0], (0, 2, 3)))


def test_members_that_are_all_endpoints_are_no_members() -> None:
    made = load_methods()["multitree"](asked("ring:4", CollectiveKind.ALL_REDUCE, (0, 1, 2, 3)))
    assert made.collective.members is None


def test_groups_are_of_all_endpoints() -> None:
    request = asked("ring:6", CollectiveKind.ALL_REDUCE, (0, 2, 3), options={"exchange": "groups"})
    with pytest.raises(UnsupportedError, match="recursive-doubling with exchange=groups: not supported"):
        load_methods()["recursive-doubling"](request)


def test_a_server_is_a_member() -> None:
    request = asked("ring:6", CollectiveKind.ALL_REDUCE, (0, 2, 3), options={"server": "1"})
    with pytest.raises(UnsupportedError, match="reduce-broadcast: server=1 is not a member"):
        load_methods()["reduce-broadcast"](request)


@pytest.mark.parametrize(("network", "members"), [("torus:4x4", (0, 3, 5, 10, 15)), ("fattree:4x4", (0, 1, 4, 9))])
def test_flows_meet_the_bound(network: str, members: tuple[int, ...]) -> None:
    """All-to-alls among some endpoints at the bandwidth that the links allow."""
    made = load_methods()["flows"](asked(network, CollectiveKind.ALL_TO_ALL, members))
    quality = verify_schedule(made).quality
    assert quality is not None
    assert quality.bandwidth_time <= quality.bandwidth_bound * 2
