"""A frontier on several workers: the same bytes as by one, whatever the order in which answers come."""

from random import Random

import pytest

import certree.api as ct
from certree.models.common.files import canonical_json
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact import frontier_search as frontier_module
from certree.synth.exact.asking import Here
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.monitor import Monitor
from tests.cli.running import certree

CASES = [("dgx1", "all-gather", 2), ("ring:4", "all-reduce", 3), ("mesh:2x3", "reduce-scatter", 3), ("ring:5", "all-to-all", 2)]


def search(network: str, kind: str, max_chunks: int) -> FrontierSearch:
    return FrontierSearch(parse_topology(network), parse_collective(kind), max_chunks, 1, Monitor())


def document(of: FrontierSearch) -> bytes:
    return canonical_json(of.result.document())


@pytest.mark.parametrize("budget", [400_000, 7])
@pytest.mark.parametrize("case", CASES)
def test_answers_in_any_order_give_the_same_frontier(case, budget, monkeypatch) -> None:
    """With three questions at a time; small budgets end in the middle of the search."""
    monkeypatch.setattr(frontier_module, "TOTAL_CONFLICTS", budget)
    alone, spread, random = search(*case), search(*case), Random(7)
    alone.run()
    here, answers, running = Here(spread.question, Monitor()), {}, []
    while ahead := spread.ahead(answers, len(running) + 1):
        running += [ask for ask in ahead if ask not in running][:1]
        if len(running) == 3 or ahead[0] not in running or random.random() < 0.3:
            ask = running.pop(random.randrange(len(running)))
            answers[ask] = here.answer(ask)
    spread.run(answers)
    assert document(spread) == document(alone)


def test_without_all_answers_it_claims_no_more_than_it_has() -> None:
    stopped = search(*CASES[0])
    stopped.run({})
    assert stopped.result.undecided


@pytest.mark.parametrize("case", CASES[1:3])
def test_processes_give_the_same_bytes(case) -> None:
    network, kind, max_chunks = case
    one, two = (ct.frontier(network, kind, max_chunks=max_chunks, unaided=True, workers=workers) for workers in (1, 2))
    assert canonical_json(two.verdict.document) == canonical_json(one.verdict.document)


def test_a_time_limit_ends_the_search_on_workers() -> None:
    asked = ("frontier", "torus:4x4", "--collective", "all-gather", "--max-chunks", 6, "--unaided")
    done = certree(*asked, "--workers", 2, "--time-limit", "0.1s")
    assert done.code == 3
    assert "undecided" in done.out
