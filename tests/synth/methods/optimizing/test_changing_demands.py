"""Method prepared-paths: valid, near the time bound on skewed draws, whatever was made before; and auto, which compares."""

from fractions import Fraction

import pytest

import certree.api as ct
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule
from tests.synth.flows.demands import drawn_request, zipf

NETWORKS = ["torus:4x4", "dgx1", "fattree:4x4", "h100:2", "hypercube:4", "mesh:3x3,without-node=4"]


def made(request: Request, method: str = "prepared-paths") -> Schedule:
    """The schedule of a method, valid."""
    schedule = load_methods()[method](request)
    assert isinstance(schedule, Schedule)
    assert verify_schedule(schedule).valid
    return schedule


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize("hot", [False, True])
def test_near_the_time_bound(spec: str, hot: bool) -> None:
    topology = ct.topology(spec)
    for seed in range(3):
        amounts = zipf(len(topology.endpoints), seed, 1 << 24, hot=hot)
        demand = ct.demand(amounts, topology)
        found = ct.synthesize(topology, ct.collective("alltoallv", demand=demand), method="prepared-paths")
        verdict = ct.verify(ct.certify(found))  # with the bounds of a long search
        assert verdict.valid
        assert verdict.quality is not None
        assert verdict.quality.time is not None
        assert isinstance(found, Schedule)
        assert fine_times(found).cycles <= Fraction(11, 10) * verdict.quality.time.cycles
        assert found.certificate is not None
        assert all(bound["class"] for bound in found.certificate["time"]["bounds"])


def test_nothing_depends_on_what_was_made_before() -> None:
    first = made(drawn_request("torus:4x4", 0, 1 << 16))
    made(drawn_request("torus:4x4", 1, 1 << 20, hot=False))
    assert made(drawn_request("torus:4x4", 0, 1 << 16)).digest == first.digest


@pytest.mark.parametrize("copies", [1, 3, 16])
def test_copies(copies: int) -> None:
    request = drawn_request("torus:4x4", 0, 1 << 16, options={"copies": str(copies)})
    found, demand = made(request), request.collective.demand
    assert demand is not None
    assert found.chunk_granules is not None
    size = -(-int(demand.columns[2].max()) // copies)
    assert found.chunk_granules.max() == size
    assert found.chunks == (-(-demand.columns[2] // size)).sum()
    with pytest.raises(UnsupportedError, match="7 were asked for"):
        made(drawn_request("torus:4x4", 0, 1 << 16, chunks=7))


@pytest.mark.parametrize("members", [None, (0, 2, 5)])
def test_all_to_all(members: tuple[int, ...] | None) -> None:
    found = ct.synthesize("torus:3x3", ct.collective("all-to-all", members=members), method="prepared-paths", size="1MiB")
    assert ct.verify(found).valid
    assert found.chunks % (72 if members is None else 6) == 0


@pytest.mark.parametrize("transport", ["routed", "stored", "best"])
@pytest.mark.parametrize("spec", ["torus:4x4", "dgx1", "fattree:4x4", "mesh:3x3,without-node=4"])
def test_small_demands(spec: str, transport: str) -> None:
    request = drawn_request(spec, 2, 1 << 11, hot=False, options={"transport": transport})
    found = made(request, "single-pass")
    assert found.slot_cycles is not None
    chain = found.transfers / found.chunks
    assert transport != "routed" or spec == "fattree:4x4" or chain == 1


@pytest.mark.parametrize(
    ("spec", "sent"), [("torus:4x4", 1 << 11), ("torus:4x4", 1 << 18), ("dgx1", 1 << 22), ("fattree:4x4", 1 << 14)]
)
def test_auto_takes_the_fastest(spec: str, sent: int) -> None:
    request = drawn_request(spec, 0, sent)
    found = made(request, "auto")
    cycles = {}
    for label, outcome in found.provenance["auto"]["considered"].items():
        if outcome.endswith(" cycles") and ":" not in label:
            cycles[label] = request.cycles(made(request, label))
            assert outcome == f"{cycles[label]} cycles"
    assert {"flows", "prepared-paths", "tree-all-to-all"} <= cycles.keys()
    assert ("single-pass" in cycles) == (sent <= 1 << 20 or spec == "fattree:4x4")
    assert request.cycles(found) == min(cycles.values())
    assert cycles[found.provenance["method"]] == min(cycles.values())


@pytest.mark.parametrize("run", ["paced", "fastest"])
def test_auto_by_other_runs(run: str) -> None:
    topology = ct.topology("ring:4")
    demand = ct.demand(zipf(4, 0, 1 << 12, hot=True), topology)
    found = ct.synthesize(topology, ct.collective("alltoallv", demand=demand), run=run)
    assert ct.verify(found).valid
    assert {"flows", "prepared-paths", "single-pass"} <= found.provenance["auto"]["considered"].keys()
