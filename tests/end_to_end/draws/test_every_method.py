"""Draws of networks of any shape: every method makes a valid schedule, or refuses in one line (`every_method`)."""

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from certree.synth.method import METHODS, Options, Request, load_methods
from tests.end_to_end.draws.every_method import Case, cases, check, drawn_network, failure

NETWORKS = 10
PARTS = 2  # tests of each network, each with every second of its cases


@pytest.mark.parametrize("seed", range(NETWORKS))
@pytest.mark.parametrize("part", range(PARTS))
def test_every_method_on_every_network(part: int, seed: int) -> None:
    found: Counter[str] = Counter()
    wrong = []
    for case in [*cases(seed)][part::PARTS]:
        try:
            found[check(case)] += 1
        except Exception as error:  # any failure of a draw is a finding
            wrong.append(f"{case.text}\n  {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    assert found["valid"] >= 30 // PARTS, found
    assert found["refused"] >= 20 // PARTS, found


def test_networks_differ_in_what_methods_may_overlook() -> None:
    """Among those drawn are parallel links, also into switches, parts of a full link, one direction only, latencies of zero, and
    switches that reduce and that do not."""
    met: Counter[str] = Counter()
    for seed in range(NETWORKS):
        network = drawn_network(Random(seed))
        parallel = np.bincount(network.pair_of_link) > 1
        met["parallel"] += parallel.any()
        met["parallel, into a switch"] += (network.kind[network.pair_dst[parallel]] > 0).any()
        unequal = network.capacity != network.capacity[np.unique(network.pair_of_link, return_index=True)[1]][network.pair_of_link]
        met["unequal parallel links"] += unequal.any()
        met["parts"] += network.scale > 1
        met["one way"] += not network.is_full_duplex
        met["no latency"] += (network.latency == 0).any()
        met["reducing"] += network.reducing.any()
        met["not reducing"] += (~network.reducing[network.kind > 0]).any()
        met["direct"] += network.is_direct
    assert len(met) == 9
    assert min(met.values()) >= 2, met


def test_what_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two methods that are wrong on purpose: an invalid schedule, and an error of any other kind."""
    valid = (case for seed in range(20) for case in cases(seed) if case.method == "direct" and check(case) == "valid")
    # as published it may be invalid, and in one step it would be right
    case = next(case for case in valid if not case.request.options and load_methods()["direct"](case.request).steps > 1)
    assert failure(case) is None
    made = load_methods()["direct"](case.request)

    def twice(_request: Request, _options: Options) -> object:
        return replace(made, step=np.zeros_like(made.step), rounds=np.ones(1, np.int32), chunk_root=made.chunk_root[::-1])

    def breaks(_request: Request, _options: Options) -> object:
        raise IndexError("no such link")

    for make, text in ((twice, "DisagreementError: the schedule that was made is invalid: "), (breaks, "IndexError: no such link")):
        monkeypatch.setitem(METHODS._entries, "direct", replace(METHODS["direct"], make=make))
        assert str(failure(Case(0, "direct", case.request))).startswith(text)
