"""Method `stopping-pass`: detours lead to endpoints, keep paths whole, and leave few layers; what it makes is valid and runs."""

import numpy as np
import pytest

from certree.extras.levels.make.stops import most_layers, with_stops
from certree.hw.engines.runs import Options
from certree.hw.run import run, tables_or_plan
from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import Schedule
from certree.synth.flows.block_paths import Paths, balanced_paths
from certree.synth.method import load_methods
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.layers import layers_of
from tests.synth.execution import ask

NETWORK = "dragonfly:7x3x2@1"  # 21 endpoints, whose shortest routes need 3 layers


def parts(spec: str, paths: Paths) -> list[list[int]]:
    """Joined pairs from endpoint to endpoint."""
    topology, found = parse_topology(spec), []
    for low, high in zip(paths.offset[:-1].tolist(), paths.offset[1:].tolist(), strict=True):
        for pair in paths.pair[low:high].tolist():
            if topology.kind[topology.pair_src[pair]] == 0:
                found.append([])
            found[-1].append(pair)
    return found


def paths_of(spec: str) -> tuple[Paths, np.ndarray, np.ndarray]:
    topology, collective = parse_topology(spec), parse_collective(CollectiveKind.ALL_TO_ALL)
    count = len(topology.endpoints)
    source, target = chunk_owners(topology, collective.fitted(topology), count * (count - 1))
    assert target is not None
    return balanced_paths(topology, source, target, 0, 0), source, target


def test_paths_stay_whole_and_need_fewer_layers() -> None:
    topology = parse_topology(NETWORK)
    before, source, target = paths_of(NETWORK)
    assert max(layers_of(parts(NETWORK, before))) >= 1
    found = with_stops(topology, before, 1)
    assert found is not None
    assert max(layers_of(parts(NETWORK, found))) == 0
    assert len(found.pair) > len(before.pair)
    for block in range(len(source)):
        pairs = found.pair[found.offset[block] : found.offset[block + 1]]
        assert (topology.pair_dst[pairs[:-1]] == topology.pair_src[pairs[1:]]).all()
        assert (topology.pair_src[pairs[0]], topology.pair_dst[pairs[-1]]) == (source[block], target[block])


def test_paths_that_need_no_stop_stay() -> None:
    paths, _, _ = paths_of("fattree:3x2")
    found = with_stops(parse_topology("fattree:3x2"), paths, 1)
    assert found is not None
    assert (found.pair == paths.pair).all()


def test_none_where_stops_at_every_router_do_not_suffice() -> None:
    """Not even routes of one router fit into no layer at all."""
    paths, _, _ = paths_of(NETWORK)
    assert with_stops(parse_topology(NETWORK), paths, 0) is None


def test_layers_that_a_machine_can_spare() -> None:
    """Four virtual channels: with three layers each has one, which the pipeline uses up before the next packet is routed."""
    assert most_layers(ask(NETWORK, "all-to-all"), 5) == 2


def test_valid_and_as_booked() -> None:
    request = ask(NETWORK, "all-to-all", 1 << 12)
    made = load_methods()["stopping-pass"](request)
    assert isinstance(made, Schedule)
    assert verify_schedule(made).valid
    ran = run(tables_or_plan(made, 1 << 12, request.machine), Options(mode="slotted"))
    assert ran.data_ok
    assert (ran.cycles, ran.contention_cycles, ran.late) == (request.cycles(made), 0, 0)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="stopping-pass is for networks with switches"):
        load_methods()["stopping-pass"](ask("torus:3x3", "all-to-all"))
    with pytest.raises(UnsupportedError, match="no block has to stop on fattree:3x2: single-pass makes the same"):
        load_methods()["stopping-pass"](ask("fattree:3x2", "all-to-all"))
    with pytest.raises(UnsupportedError, match="stopping-pass writes up to 131072 transfers; here are 159600"):
        load_methods()["stopping-pass"](ask("switch:400", "all-to-all"))


def test_refusal_of_too_many_transfers_with_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks fit, and the parts of those that stop do not."""
    monkeypatch.setattr("certree.extras.levels.methods.stopping_pass.MOST_ROWS", 21 * 20)
    with pytest.raises(UnsupportedError, match="stopping-pass writes up to 420 transfers; with stops there are 4"):
        load_methods()["stopping-pass"](ask(NETWORK, "all-to-all", 1 << 12))
