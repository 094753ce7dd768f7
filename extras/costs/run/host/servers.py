"""Servers as processes of this computer, each pair connected by a loopback TCP connection."""

import multiprocessing
import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.fitting.measurements import CO_LOCATED_PS
from certree.extras.costs.run.host.addition import add_at_once
from certree.models.common.errors import CertreeError

Float32 = NDArray[np.float32]
LOOPBACK = "127.0.0.1"
ENDED_EARLY = "a server process of the benchmark ended early"
START_SECONDS = 60  # until all servers have found each other


class Servers:
    """A group of server processes, started on entry and ended on exit; `numbers`: how many of them will run together.

    CertreeError when one of them fails.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = sorted(set(numbers))
        self._pipes: list[Connection] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []

    def __enter__(self) -> "Servers":
        context = multiprocessing.get_context("spawn")
        barriers = {number: context.Barrier(number) for number in self._numbers}
        try:
            for rank in range(self._numbers[-1]):
                own_end, their_end = context.Pipe()
                process = context.Process(target=serve, args=(rank, their_end, barriers), daemon=True)
                process.start()
                their_end.close()
                self._pipes.append(own_end)
                self._processes.append(process)
            ports = [self._answer(pipe) for pipe in self._pipes]
            for pipe in self._pipes:
                self._ask(pipe, ports)
            for pipe in self._pipes:
                self._answer(pipe)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def time(self, benchmark: str, number: int, floats: int, repetitions: int) -> list[float]:
        """Seconds from the start of the first to the end of the last of `number` servers, for each run after one warm-up run."""
        for pipe in self._pipes[:number]:
            self._ask(pipe, (benchmark, number, floats, repetitions + 1))
        taken = [self._answer(pipe) for pipe in self._pipes[:number]]
        return [max(run) for run in list(zip(*taken, strict=True))[1:]]

    def _ask(self, pipe: Connection, request: object) -> None:
        try:
            pipe.send(request)
        except ConnectionError:
            raise CertreeError(ENDED_EARLY) from None

    def _answer(self, pipe: Connection) -> object:
        """The answer of a server; a failure arrives as text."""
        try:
            answer = pipe.recv()
        except (EOFError, ConnectionError):
            raise CertreeError(ENDED_EARLY) from None
        if isinstance(answer, str):
            raise CertreeError(f"a server process of the benchmark failed: {answer}")
        return answer

    def _end(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join()


def serve(rank: int, pipe: Connection, barriers: Mapping[int, Barrier]) -> None:
    """Main function of a server process: connect to the others, then run the requested benchmarks until the pipe closes."""
    try:
        with socket.create_server((LOOPBACK, 0), backlog=len(barriers) + 64) as door:
            door.settimeout(START_SECONDS)
            pipe.send(door.getsockname()[1])
            peers = _join(rank, pipe.recv(), door)
        pipe.send(rank)
        while True:
            benchmark, number, floats, repetitions = pipe.recv()
            run = _co_located_ps if benchmark == CO_LOCATED_PS else _exchange
            near = {peer: peers[peer] for peer in range(number) if peer != rank}
            pipe.send([run(rank, near, floats, barriers[number]) for _ in range(repetitions)])
    except (EOFError, KeyboardInterrupt):  # no more requests
        return
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def _join(rank: int, ports: Sequence[int], door: socket.socket) -> dict[int, socket.socket]:
    """A connection to every other server: opened by the server of higher rank, which sends its rank."""
    peers: dict[int, socket.socket] = {}
    for peer in range(rank):
        peers[peer] = socket.create_connection((LOOPBACK, ports[peer]), timeout=START_SECONDS)
        peers[peer].sendall(rank.to_bytes(4, "big"))
    for _ in range(rank + 1, len(ports)):
        connection, _ = door.accept()
        connection.settimeout(START_SECONDS)
        peers[int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")] = connection
    for connection in peers.values():
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
    return peers


def _exchange(rank: int, peers: Mapping[int, socket.socket], floats: int, barrier: Barrier) -> float:
    """Seconds in which every server receives `floats` in total, equally many from each other server (rounded up)."""
    part = -(-floats // len(peers))
    sent = np.full(part, rank, np.float32)
    into = {peer: np.full(part, -1, np.float32) for peer in peers}
    barrier.wait()
    start = time.perf_counter()
    transfer(peers, dict.fromkeys(peers, sent), into)
    seconds = time.perf_counter() - start
    if any((arrived != peer).any() for peer, arrived in into.items()):
        raise ValueError("an exchange brought wrong data")
    return seconds


def _co_located_ps(rank: int, peers: Mapping[int, socket.socket], floats: int, barrier: Barrier) -> float:
    """Seconds of an all-reduce of `floats`: every server adds up a part and distributes its sum (GenTree, Section 2.1)."""
    number = len(peers) + 1
    bounds = np.linspace(0, floats, number + 1).astype(int).tolist()
    parts = [slice(low, high) for low, high in pairwise(bounds)]
    vector = np.full(floats, rank + 1, np.float32)
    mine = {peer: np.zeros(bounds[rank + 1] - bounds[rank], np.float32) for peer in peers}
    total = np.zeros_like(mine[next(iter(mine))])
    barrier.wait()
    start = time.perf_counter()
    transfer(peers, {peer: vector[parts[peer]] for peer in peers}, mine)
    add_at_once([vector[parts[rank]], *mine.values()], total)
    vector[parts[rank]] = total
    transfer(peers, dict.fromkeys(peers, total), {peer: vector[parts[peer]] for peer in peers})
    seconds = time.perf_counter() - start
    if (vector != number * (number + 1) // 2).any():
        raise ValueError("an all-reduce ended with a wrong sum")
    return seconds


def transfer(peers: Mapping[int, socket.socket], out: Mapping[int, Float32], into: Mapping[int, Float32]) -> None:
    """Send `out` and fill `into`, by peer, all at the same time. ConnectionError when a peer disconnects."""
    left = {peer: data.view(np.uint8).data for peer, data in out.items()}
    room = {peer: data.view(np.uint8).data for peer, data in into.items()}
    with selectors.DefaultSelector() as selector:
        for peer, connection in peers.items():
            selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, peer)
        while selector.get_map():
            for key, events in selector.select():
                peer, connection = key.data, peers[key.data]
                if events & selectors.EVENT_WRITE and left[peer]:
                    left[peer] = left[peer][connection.send(left[peer]) :]
                if events & selectors.EVENT_READ and room[peer]:
                    count = connection.recv_into(room[peer])
                    if not count:
                        raise ConnectionError(f"server {peer} disconnected")
                    room[peer] = room[peer][count:]
                wanted = (selectors.EVENT_WRITE if left[peer] else 0) | (selectors.EVENT_READ if room[peer] else 0)
                if not wanted:
                    selector.unregister(connection)
                elif wanted != key.events:
                    selector.modify(connection, wanted, peer)
