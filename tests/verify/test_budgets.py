"""Analyses that may take much more than their input take it from the budget: with none left they are undecided, and say what they
are."""

from collections.abc import Callable
from functools import cache

import pytest

from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.model.msccl import read_msccl
from certree.models.common import budget
from certree.models.common.errors import UndecidedError
from certree.models.fine.slots import fine_times, reserved_lanes
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.unit_rounds import in_unit_rounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from certree.verify.bounds.witnesses.common import longest_distance
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.layers import layers_of
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.question import Question
from certree.verify.exact.rup import check_proof
from certree.verify.order.races import race_of
from tests.extras.runtimes.check.test_rules import right
from tests.fuzz.forms import FORMS
from tests.verify.build import build

made = cache(lambda form: FORMS[form]())


def metric(longest: int) -> object:
    topology = parse_topology("ring:4")
    length = [longest] + [1] * (len(topology.src) - 1)
    instance = Instance(topology, parse_collective("all-to-all"))
    return check_bound(instance, {"kind": "metric", "quantity": "bandwidth", "value": "1", "witness": {"length": length}})


def proof(text: str) -> object:
    return check_proof(encode(Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 1, 1)).formula, text)


def exchange_in_rounds() -> object:
    """Nodes exchange a chunk in a step of two rounds: each sends before it has what the other one sends."""
    return in_unit_rounds(build("full:2", "all-reduce", "0:0>1 0:1>0", rounds=[2]))


CASES: dict[str, Callable[[], object]] = {
    "contents after 2 transfers": lambda: verify_schedule(build("full:2", "all-reduce", "0:0>1 0:1>0")),
    "distances from 4 endpoints over 8 links": lambda: metric(2),
    "distances from 4 nodes over 8 links": lambda: metric(1 << 20),
    "the order of 2 transfers of a step": exchange_in_rounds,
    "lanes of": lambda: reserved_lanes(fine_times(made("fine-widths"))),
    "waits of": lambda: race_of(made("algorithm")),
    "layers of 2 routes": lambda: layers_of([(0, 1), (1, 0)]),
    "routes through switches": lambda: longest_distance(Instance(parse_topology("switch:3"), parse_collective("all-gather"))),
    "the order of 2 chunks": lambda: encode(
        Question(parse_topology("ring:3"), parse_collective("all-reduce"), 2, 2, 2), ordered=True
    ),
    "characters of a proof": lambda: proof("0\n"),
    "0 lines of a proof": lambda: proof(""),
    "an execution of 8 steps of 6 thread blocks": lambda: verify_program(read_msccl(right().encode(), "right")),
}


@pytest.mark.parametrize("what", list(CASES))
def test_without_a_budget_it_is_undecided(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ("all-to-all", "fine-widths", "algorithm"):
        made(form)
    monkeypatch.setattr(budget, "MOST_STEPS", 0)
    with pytest.raises(UndecidedError, match=what):
        CASES[what]()


def test_a_proof_is_followed_as_far_as_the_budget_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    formula = encode(Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 1, 1)).formula
    literals = sum(len(clause) + 1 for clause in formula.clauses)
    monkeypatch.setattr(budget, "MOST_STEPS", literals)
    with (
        budget.budgeted(),
        pytest.raises(UndecidedError, match=r"0 lines of a proof about \d+ clauses, of which 0 are checked: takes"),
    ):
        check_proof(formula, "")


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_MEMORY", 0)
    for case in (lambda: metric(2), exchange_in_rounds, CASES["an execution of 8 steps of 6 thread blocks"]):
        with pytest.raises(UndecidedError, match="bytes of memory; the limit is 1, which CERTREE_BUDGET raises"):
            case()
