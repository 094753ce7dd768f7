"""Benchmarks on this computer: right sums, all configurations, servers that end with those who asked for them."""

import multiprocessing
import re
import socket

import numpy as np
import pytest

from certree.extras.costs.run.host.addition import BLOCK, add_at_once, time_additions
from certree.extras.costs.run.host.measuring import Benchmarks
from certree.extras.costs.run.host.servers import Servers, transfer
from certree.models.common.errors import CertreeError, InputError


@pytest.mark.parametrize("floats", [1, 5, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
@pytest.mark.parametrize("vectors", [2, 3, 7])
def test_adding_up_at_once(vectors: int, floats: int) -> None:
    data = np.random.default_rng(1).integers(0, 100, (vectors, floats)).astype(np.float32)
    total = np.full(floats, -1, np.float32)
    add_at_once(list(data), total)
    assert (total == data.sum(axis=0)).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_additions_are_timed_once_for_each_repetition(threads: int) -> None:
    seconds = time_additions(3, 1000, 4, threads)
    assert len(seconds) == 4
    assert min(seconds) > 0


def test_a_wrong_sum_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "certree.extras.costs.run.host.addition.add_at_once", lambda vectors, total: np.add(vectors[0], vectors[1], out=total)
    )
    with pytest.raises(CertreeError, match="ended with a wrong sum"):
        time_additions(3, 10, 1, 1)


def test_everything_is_sent_and_received_at_the_same_time() -> None:
    """More than sockets buffer goes in both directions: a process that sent first and received then would wait for ever."""
    ends = socket.socketpair()
    for end in ends:
        end.setblocking(False)
    peers = dict(enumerate(ends))
    out = {peer: np.full(1 << 20, peer, np.float32) for peer in peers}
    into = {peer: np.zeros(1 << 20, np.float32) for peer in peers}
    transfer(peers, out, into)
    assert (into[0] == 1).all()
    assert (into[1] == 0).all()
    ends[1].close()
    with pytest.raises(ConnectionError):
        transfer({0: ends[0]}, {0: out[0]}, {0: into[0]})


def test_measurements_of_all_configurations() -> None:
    runs = list(Benchmarks((2, 3), (2, 4), (1000, 5000), 2, 1).run())
    found = {(run.benchmark, run.participants, run.floats) for one in runs for run in one}
    assert found == {
        *(("addition", vectors, floats) for vectors in (2, 4) for floats in (1000, 5000)),
        *((name, servers, floats) for name in ("exchange", "co-located-ps") for servers in (2, 3) for floats in (1000, 5000)),
    }
    assert all(len(one) == 2 and all(run.seconds > 0 for run in one) for one in runs)
    assert not [child for child in multiprocessing.active_children() if child.is_alive()]


def test_a_server_that_fails_is_no_riddle() -> None:
    with Servers([2]) as servers:
        with pytest.raises(CertreeError, match=r"a server process of the benchmark failed: .*Error"):
            servers.time("exchange", 2, -1, 1)
        with pytest.raises(CertreeError, match="a server process of the benchmark ended early"):
            servers.time("exchange", 2, 10, 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"servers": (1,)}, "servers: 1; allowed: 2 to 64"),
        ({"servers": (65,)}, "servers: 65; allowed: 2 to 64"),
        ({"vectors": (1,)}, "vectors: 1; allowed: 2 to 1024"),
        ({"floats": (3,)}, "floats: 3; allowed: 4 to"),
        ({"servers": ()}, "at least one number of servers"),
        ({"threads": 0}, "threads: 0; allowed: 1 to"),
        ({"repetitions": 0}, "repetitions: 0; allowed: 1 to"),
    ],
)
def test_wrong_benchmarks_are_refused(changes: dict[str, object], reason: str) -> None:
    usual = {"servers": (4,), "vectors": (2,), "floats": (100,), "repetitions": 1, "threads": 1}
    with pytest.raises(InputError, match=re.escape(reason)):
        Benchmarks(**{**usual, **changes})  # type: ignore[arg-type]


def test_servers_that_ended_before_they_were_asked() -> None:
    """The pipe to them is broken when the request is sent, not when the answer is read."""
    with Servers([2]) as servers:
        for process in servers._processes:
            process.terminate()
            process.join()
        with pytest.raises(CertreeError, match="a server process of the benchmark ended early"):
            servers.time("exchange", 2, 10, 1)
