"""The short proof for trees compared with the machine that executes every row, and rejections by each of its conditions."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import strategies as st

from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.synth.method import load_methods
from certree.verify.rules import tree_proof as trees
from certree.verify.rules.semantics import check_semantics
from certree.verify.rules.tree_proof import flows_along_trees
from certree.verify.rules.wiring import check_writes, executable_rows
from certree.verify.verdict import Findings
from tests.drawn import examples, given_at_least, rngs
from tests.synth.execution import make
from tests.synth.flows.demands import drawn_request
from tests.verify.build import build, chain_all_reduce, path_all_reduce
from tests.verify.schedules import mutated, random_schedule


def is_valid_by_execution(schedule: Schedule) -> bool:
    """What the machine says of the rows' meaning."""
    findings = Findings()
    check_semantics(schedule, findings, check_writes(schedule, findings, np.ones(schedule.transfers, np.bool_)))
    return not findings.rules


def mutant(rng: Random, changes: int) -> tuple[Schedule, bool]:
    """A valid schedule with that many changes, and whether it is proved."""
    schedule = random_schedule(rng)
    for _ in range(changes):
        schedule = mutated(rng, schedule)
    return schedule, bool(executable_rows(schedule).all()) and flows_along_trees(schedule)


@given_at_least(15, rngs, st.integers(0, 2))
@examples(500)
def test_what_is_proved_is_right(rng: Random, changes: int) -> bool:
    schedule, proved = mutant(rng, changes)
    assert not proved or is_valid_by_execution(schedule)
    return proved and changes > 0


@given_at_least(20, rngs)
@examples(200)
def test_many_that_are_not_proved_are_wrong(rng: Random) -> bool:
    schedule, proved = mutant(rng, 1)
    return bool(executable_rows(schedule).all()) and not proved and not is_valid_by_execution(schedule)


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter", "all-reduce"])
@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_schedules_of_methods_are_proved(kind: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_BLOCK", block)
    for spec in ("mesh:3x3", "torus:3x4,without-node=5"):
        assert flows_along_trees(make("multitree", spec, kind))
    assert flows_along_trees(make("ring", "torus:3x4", kind))
    assert flows_along_trees(make("ring", "switch:5", kind))


def test_delays_and_both_phases() -> None:
    for delay in (1, 2, 3):
        assert flows_along_trees(chain_all_reduce(delay))
        assert not flows_along_trees(replace(chain_all_reduce(delay), delay=delay + 1))
    assert flows_along_trees(path_all_reduce())


#: the right rows of an all-gather of node 1's chunk on mesh:1x4, and what is wrong with others; the same of a reduce-scatter to it
FAULTS = {
    "all-gather": {
        "right": "1>0 1>2; 2>3",
        "a copy to the root in place of one that is due": "1>0 1>2; 2>1",
        "a node gets two copies": "1>0 1>2; 1>2",
        "it leaves too early": "1>0 1>2 2>3",
        "one is missing": "1>0 1>2",
        "a reduce among them": "1>0 1>2; 2+3",
    },
    "reduce-scatter": {
        "right": "0+1 3+2; 2+1",
        "the sum is at another node": "0+1 3+2; 1+2",
        "a node sends twice": "0+1 3+2; 3+2",
        "it leaves before what it adds up": "0+1 2+1 3+2",
        "a circle": "0+1 2+3; 3+2",
        "one is missing": "0+1; 2+1",
    },
    "all-reduce": {  # one root, and the whole sum
        "right": "0+1 3+2; 2+1; 1>0 1>2; 2>3",
        "a copy of a part of the sum": "0+1 3+2; 2+1 1>0; 1>2; 2>3",
        "copies from another root": "0+1 3+2; 2+1; 2>3 2>1; 1>0",
    },
}


@pytest.mark.parametrize(("kind", "what"), [(kind, what) for kind, cases in FAULTS.items() for what in cases])
def test_each_fault_is_left_to_the_machine(kind: str, what: str) -> None:
    schedule = build("mesh:1x4", kind, FAULTS[kind][what], roots=None if kind == "all-reduce" else [1])
    assert flows_along_trees(schedule) == is_valid_by_execution(schedule) == (what == "right")


def test_other_right_schedules_are_left_to_the_machine() -> None:
    """Recursive doubling is right, but a node sends its chunk more than once; switches that add up are not endpoints."""
    schedule = make("recursive-doubling", "hypercube:2")
    assert not flows_along_trees(schedule)
    assert is_valid_by_execution(schedule)
    assert not flows_along_trees(make("netreduce", "switch:4,reducing=switches"))
    assert parse_topology("switch:4,reducing=switches").holds.any()


def test_chunks_with_targets() -> None:
    for made in (
        demanded("torus:3x3"),
        demanded("h100:2"),
        make("flows", "mesh:2x3", "gather", root=1),
        make("flows", "dgx1", "all-to-all"),
    ):
        assert flows_along_trees(made)
        rows, where = np.arange(made.transfers), np.flatnonzero(made.dst != made.chunk_target[made.chunk])
        moves = {name: getattr(made, name) for name in made.columns}
        wrong = [
            {**moves, "dst": np.where(rows == 0, made.src[1], made.dst)},  # elsewhere
            {name: column[1:] for name, column in moves.items()},  # one is missing
            {**moves, "step": np.where(rows == where[0], made.steps - 1, made.step)},  # later than what needs it
            {name: np.append(column, column[:1]) for name, column in moves.items()},  # one comes twice
        ]
        for columns in wrong:
            assert not flows_along_trees(replace(made, **columns))


def demanded(spec: str) -> Schedule:
    """A schedule for a drawn demand in fine slots, with chunks that are stored on their way."""
    made = load_methods()["prepared-paths"](drawn_request(spec, 0, 1 << 16))
    assert isinstance(made, Schedule)
    assert made.slot_cycles is not None
    return made
