"""Exact search: certified by bounds or shorter than MultiTree, and honest about what it did not find."""

import subprocess
import sys
import time
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.run import run as run_schedule
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import Profile
from certree.synth.exact.encodings import encoding
from certree.synth.exact.encodings.all_reduce_encoding import AllReduceEncoding
from certree.synth.exact.encodings.gather import GatherEncoding
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.checker import verify_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples
from tests.networks import one_way
from tests.synth.execution import ask, execute

exact, multitree = load_methods()["exact"], load_methods()["multitree"]

ALONE = {"exchange": "false"}
SMALL = ["ring:2", "ring:4", "ring:5", "ring:6", "mesh:1x4", "mesh:2x3", "mesh:2x4", "mesh:3x3", "torus:3x3", "hypercube:3"]
SMALL += ["full:4", "full:9", "torus:3x3,without-link=0-1", "ring:4,capacity=2", "dgx1", "cayley:102+021"]
MIRRORED = ["ring:5", "mesh:2x3", "torus:3x3,without-link=0-1", "cayley:102+021"]  # a reduce-scatter is a gather backwards
ONE_WAY = "mesh:2x3,without-link=0>1,without-link=5>4"


def steps_by_counting(made: Schedule) -> int:
    """Hops between the farthest endpoints, and transfers that each endpoint or all of them need over the links they have."""
    topology, collective, chunks = made.topology, made.collective, made.chunks
    nodes = len(topology.endpoints)
    into = np.bincount(topology.dst, topology.capacity).astype(int)[topology.endpoints].tolist()
    out = np.bincount(topology.src, topology.capacity).astype(int)[topology.endpoints].tolist()
    if not collective.is_rooted:
        needed = max(ceil(chunks / min(into + out)), ceil(2 * (nodes - 1) * chunks / sum(into)))
    else:
        needed = ceil(chunks * (nodes - 1) / nodes / min(into if collective.gathers else out))
    return max(topology.diameter[0], needed)


@pytest.mark.parametrize(
    ("spec", "collective"),
    [(spec, "all-reduce") for spec in SMALL if spec not in ("mesh:3x3", "mesh:2x4")]
    + [(spec, "all-gather") for spec in SMALL]
    + [(spec, "reduce-scatter") for spec in MIRRORED],
)
def test_it_certifies_or_beats_multitree(spec: str, collective: str) -> None:
    made, theirs = exact(ask(spec, collective)), multitree(ask(spec, collective))
    assert verify_schedule(made).valid
    execute(made)
    least = steps_by_counting(made)
    assert least <= made.steps
    assert made.steps == least or made.bandwidth_time < theirs.bandwidth_time
    assert made.provenance["status"] == "optimal"
    refuted = [f"infeasible at S={steps}" for steps in range(least, made.steps)]
    assert [words for words in made.provenance["solver"] if "infeasible" in words] == refuted


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "reduce-scatter"])
def test_links_that_go_one_way_are_used_that_way(collective: str) -> None:
    made = exact(ask(ONE_WAY, collective, chunks=6))
    assert verify_schedule(made).valid
    execute(made)
    assert steps_by_counting(made) <= made.steps <= multitree(ask(ONE_WAY, collective)).steps


@pytest.mark.parametrize("spec", ["ring:4", "mesh:2x3", "torus:3x3", "ring:5"])
def test_what_it_makes_runs_from_tables(spec: str) -> None:
    asked = ask(spec)
    made = exact(asked)
    run = run_schedule(lower(made, asked.message_bytes, asked.machine))
    assert (run.cycles, run.late, run.contention_cycles, run.data_ok) == (asked.cycles(made), 0, 0, True)


@pytest.mark.parametrize(("spec", "steps"), [("ring:4", 3), ("mesh:2x3", 5), ("torus:3x3", 4), ("hypercube:3", 5), ("full:7", 2)])
def test_exchanges_of_one_chunk_an_endpoint_meet_the_bound(spec: str, steps: int) -> None:
    nodes, links = len(parse_topology(spec).endpoints), len(parse_topology(spec).src)
    made = exact(ask(spec))
    assert made.steps == steps == ceil(2 * (nodes - 1) * nodes / links)
    assert verify_schedule(made).valid
    execute(made)


def test_two_chunks_an_endpoint_when_one_settles_nothing() -> None:
    """One each: four steps without exchanges, as MultiTree, where three are not excluded by a bound."""
    assert exact(ask("ring:4", options=ALONE)).chunks == 8
    assert exact(ask("ring:4", chunks=4, options=ALONE)).steps == 4
    assert exact(ask("ring:4", message_bytes=64, options=ALONE)).chunks == 4  # fewer steps are faster for so little
    assert exact(ask("ring:5", options=ALONE)).chunks == 5
    assert (exact(ask("ring:4")).chunks, exact(ask("ring:5")).chunks) == (4, 5)


@pytest.mark.parametrize(
    ("spec", "collective", "chunks", "steps"),
    [
        ("mesh:2x2", "all-reduce", 4, 3),
        ("switch:4", "all-reduce", 2, 3),
        ("fattree:2x2", "reduce-scatter", 4, 3),
        ("mesh:4x4", "all-gather", 16, 8),
        ("switch:8", "all-gather", 8, 7),
    ],
)
def test_the_default_is_proved(spec: str, collective: str, chunks: int, steps: int) -> None:
    """Sums that are exchanged, networks with switches, 16 endpoints."""
    made = exact(ask(spec, collective, chunks=chunks))
    assert (made.chunks, made.steps, made.provenance["status"], made.provenance["fewest_steps"]) == (
        chunks,
        steps,
        "optimal",
        "proved",
    )
    assert verify_schedule(made).quality.fewest_steps is not None


@pytest.mark.parametrize("solver", ["cadical", "cp-sat", "z3"])
def test_any_solver_finds_as_few_steps(solver: str) -> None:
    for collective, chunks, steps in (("all-reduce", 6, 5), ("all-gather", 12, 5), ("reduce-scatter", 6, 3)):
        made = exact(ask("mesh:2x3", collective, chunks=chunks, options={"solver": solver}))
        assert (made.steps, made.chunks, made.provenance["status"]) == (steps, chunks, "optimal")
        assert verify_schedule(made).valid
        execute(made)


def test_what_is_too_large_is_refused() -> None:
    for spec, options, words in (
        ("mesh:4x5", {}, "exact covers up to 16 endpoints; mesh:4x5 has 20"),
        ("mesh:4x4", {"solver": "cp-sat"}, "exact covers up to 9 endpoints; mesh:4x4 has 16"),
        ("switch:4", {"solver": "cp-sat"}, "exact needs a direct network; switch:4 has switches"),
    ):
        with pytest.raises(UnsupportedError, match=words):
            exact(ask(spec, options=options))
    with pytest.raises(UnsupportedError, match="exact covers up to 64 chunks; 65 were asked for"):
        exact(ask("switch:4", chunks=65))


@pytest.mark.parametrize("chunks", [1, 2, 3, 7])
def test_the_number_of_chunks_can_be_chosen(chunks: int) -> None:
    made = exact(ask("mesh:2x3", chunks=chunks))
    assert made.chunks == chunks
    assert made.steps >= ceil(2 * 5 * chunks / 14)
    execute(made)


def test_several_chunks_an_endpoint() -> None:
    made = exact(ask("mesh:2x3", "all-gather", chunks=12))
    assert (made.steps, made.chunks) == (5, 12)  # ten chunks over the two links of a corner
    execute(made)


def test_neighbours_exchange_sums_where_that_saves_a_step() -> None:
    assert exact(ask("ring:2", chunks=1, options=ALONE)).steps == 2
    made = exact(ask("ring:2", chunks=1))
    assert made.steps == 1
    assert list(zip(made.op.tolist(), made.src.tolist(), made.dst.tolist(), strict=True)) == [(Op.REDUCE, 0, 1), (Op.REDUCE, 1, 0)]


@pytest.mark.parametrize(("spec", "steps"), [("ring:2", 1), ("ring:4", 3), ("mesh:2x3", 3)])
def test_exchanges_have_tables(spec: str, steps: int) -> None:
    """Tables count arrivals; they are valid, and run in the cycles of the closed form."""
    asked = ask(spec, message_bytes=1 << 12, chunks=1)
    made = exact(asked)
    assert made.steps == steps < exact(ask(spec, message_bytes=1 << 12, chunks=1, options=ALONE)).steps
    tables = lower(made, asked.message_bytes, asked.machine)
    assert tables.profile is Profile.BUFFERS
    assert verify_tables(tables).valid
    run = run_schedule(tables)
    assert (run.cycles, run.late, run.contention_cycles, run.data_ok) == (asked.cycles(made), 0, 0, True)


def test_the_step_limit_is_a_boundary() -> None:
    assert exact(ask("mesh:2x3", steps=6, options=ALONE)).steps == 6
    with pytest.raises(UndecidedError, match=r"at most 5 steps; solver: infeasible at S=5; model: all-reduce"):
        exact(ask("mesh:2x3", steps=5, options=ALONE))
    with pytest.raises(UnsupportedError, match="6 chunks take at least 5 steps here by latency and bandwidth; not 4"):
        exact(ask("mesh:2x3", steps=4))


def test_running_out_of_effort_keeps_multitree_and_says_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "SOLVE_BUDGET", 0)
    asked = ask("mesh:3x3", chunks=9)
    made = exact(asked)
    assert made.digest == multitree(ask("mesh:3x3")).digest
    assert asked.monitor.best is not None
    assert asked.monitor.best.digest == made.digest
    assert (made.provenance["status"], made.provenance["trees"]) == ("feasible", "multitree")
    assert made.provenance["solver"] == [f"unknown at S={steps}" for steps in range(6, 10)]
    with pytest.raises(UndecidedError, match="unknown at S=8"):
        exact(ask("mesh:3x3", steps=8))


def test_a_spent_budget_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certree.synth.methods.optimizing.exact.TOTAL_BUDGET", 0)
    made = exact(ask("mesh:3x3"))
    assert made.steps == multitree(ask("mesh:3x3")).steps * made.chunks // 9
    assert (made.provenance["status"], made.provenance["solver"]) == ("feasible", [])
    with pytest.raises(UndecidedError, match="solver: not asked, no effort or time was left"):
        exact(ask("mesh:3x3", steps=8))


def test_a_passed_deadline_keeps_multitree() -> None:
    made = exact(ask("mesh:3x3", monitor=Monitor(time.monotonic())))
    assert made.steps == multitree(ask("mesh:3x3")).steps
    assert (made.provenance["status"], made.provenance["solver"]) == ("feasible", [])


def test_the_same_input_and_seed_give_the_same_schedule() -> None:
    lines: list[str] = []
    first, second = (exact(ask("mesh:2x3", seed=5, options=ALONE, monitor=Monitor(sink=lines.append))) for _ in range(2))
    assert (first.digest, first.provenance) == (second.digest, second.provenance)
    looked = [f"exact: looking for a schedule of {steps} steps" for steps in (5, 6)]
    assert lines == 2 * [*looked, "exact: looking for a proof that 5 steps do not suffice"]


def all_reduce(spec: str, chunks: int, steps: int) -> AllReduceEncoding:
    return AllReduceEncoding(parse_topology(spec), parse_collective("all-reduce"), [0] * chunks, steps)


def answer(problem: encoding.Encoding) -> Status:
    problem.encode()
    return problem.solve(ask("ring:4"), Budget(20))


# Steps too few for each network; without any one of the constraints the solver would say that they suffice.
@pytest.mark.parametrize("dropped", ["_one_centre", "_reduction", "_spreading", "_causality", "_bandwidth"])
def test_every_constraint_of_the_all_reduce_is_needed(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(all_reduce("mesh:2x4", 8, 6)) is Status.INFEASIBLE
    monkeypatch.setattr(AllReduceEncoding, dropped, lambda self: None)
    assert answer(all_reduce("mesh:2x4", 8, 6)).has_solution


@pytest.mark.parametrize(
    ("dropped", "line"), [("_correctness", "mesh:1x5"), ("_causality", "mesh:1x5,capacity=4"), ("_bandwidth", "full:5")]
)
def test_every_constraint_of_the_gather_is_needed(dropped: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = parse_topology(line)
    roots = network.endpoints.tolist() * (1 if network.diameter[0] > 1 else 4)
    assert answer(GatherEncoding(network, parse_collective("all-gather"), roots, 4)).has_solution
    assert answer(GatherEncoding(network, parse_collective("all-gather"), roots, 3)) is Status.INFEASIBLE
    monkeypatch.setattr(GatherEncoding, dropped, lambda self: None)
    assert answer(GatherEncoding(network, parse_collective("all-gather"), roots, 3)).has_solution


@pytest.mark.parametrize(("spec", "chunks", "steps"), [("mesh:2x4", 8, 6), ("ring:4", 1, 3), ("ring:5", 2, 4), ("mesh:2x3", 6, 6)])
def test_ordering_the_chunks_loses_nothing(spec: str, chunks: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = answer(all_reduce(spec, chunks, steps))
    monkeypatch.setattr(AllReduceEncoding, "_symmetry", lambda self: None)
    assert answer(all_reduce(spec, chunks, steps)) is ordered


def test_a_mistyped_index_is_no_new_variable() -> None:
    problem = all_reduce("ring:4", 1, 2)
    with pytest.raises(KeyError):
        problem._copy[0, 99, 0]
    with pytest.raises(TypeError):
        problem._copy[0, 99, 0] = 1  # type: ignore[index]


@examples(25)
@given(one_way(5, least=3, widest=2), st.sampled_from(["all-reduce", "all-gather", "reduce-scatter"]), st.booleans())
def test_any_small_network_gets_a_valid_schedule(topology: Topology, collective: str, exchange: bool) -> None:
    options = {"exchange": "true"} if exchange and collective == "all-reduce" else {}
    made = exact(ask(topology, collective, chunks=len(topology.kind), options=options))
    assert verify_schedule(made).valid
    execute(made)
    assert steps_by_counting(made) <= made.steps <= multitree(ask(topology, collective)).steps


def test_all_gathers_are_not_all_reduces() -> None:
    with pytest.raises(UnsupportedError, match="GatherEncoding covers all-gather, reduce-scatter, not all-reduce"):
        GatherEncoding.accepts(parse_topology("ring:4"), parse_collective("all-reduce"), 4)


def test_loading_the_methods_does_not_load_the_solver() -> None:
    code = "import sys; from certree.synth.method import load_methods; load_methods(); assert 'ortools' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
