"""Execution by one process for each rank on this computer; messages go through sockets.

A rank that fails, or gets no message in time, ends; its sockets close, its neighbours notice, and the process that started them
tells all others. No rank waits longer than the time limit.
"""

import contextlib
import multiprocessing
import os
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from certree.extras.runtimes.run.duties import Duties, Duty
from certree.extras.runtimes.run.numbers import TYPES, Vector
from certree.extras.runtimes.run.work import Work

_HEAD = struct.Struct("<QQ")  # number of the message, bytes
_GRACE = 2.0  # seconds in which ranks report that they were stopped
MAX_RANKS = 256

#: called before every message that a rank sends, with the rank and the number of the message; False loses it. For tests.
Tamper = Callable[[int, int], bool]


@dataclass(frozen=True)
class Outcome:
    """The report of a rank: the digests of its results by chunk and the seconds of each iteration; or an `error`."""

    digests: dict[int, bytes]
    seconds: list[float]
    error: str = ""


class _FailedError(Exception):
    """A rank cannot go on; the message says why."""


def execute_locally(
    duties: Duties, kind: str, operation: str, iterations: int, seconds: float, tamper: Tamper | None = None
) -> list[Outcome]:
    """Execute the duties `iterations` times and once before to warm up; the outcome of every rank, after at most `seconds` and a
    little more."""
    context = multiprocessing.get_context("fork")
    deadline = time.monotonic() + seconds
    joined = sorted(duties.messages)
    ends = {pair: socket.socketpair() for pair in joined}
    pipes = [context.Pipe() for _ in range(duties.ranks)]

    def start(rank: int) -> None:
        for (src, dst), (out, into) in ends.items():
            if src != rank:
                out.close()
            if dst != rank:
                into.close()
        for other, (parent, child) in enumerate(pipes):
            parent.close()
            if other != rank:
                child.close()
        outs = {dst: out for (src, dst), (out, _) in ends.items() if src == rank}
        ins = {src: into for (src, dst), (_, into) in ends.items() if dst == rank}
        _Rank(rank, duties, kind, operation, outs, ins, deadline, tamper).report(pipes[rank][1], iterations)

    processes = [context.Process(target=start, args=(rank,), daemon=True) for rank in range(duties.ranks)]
    try:
        for process in processes:
            process.start()
        for out, into in ends.values():
            out.close()
            into.close()
        for _, child in pipes:
            child.close()
        return _conducted([parent for parent, _ in pipes], processes, iterations, deadline)
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
            process.join()


def _conducted(pipes: list[Connection], processes: list[Any], iterations: int, deadline: float) -> list[Outcome]:
    """Start every iteration when all ranks are ready; stop all when one fails."""
    outcomes: dict[int, Outcome] = {}
    for _ in range(iterations + 2):
        arrived: set[int] = set()
        while len(arrived) < len(pipes):
            for rank, message in _messages(pipes, arrived, processes, deadline):
                arrived.add(rank)
                if isinstance(message, Outcome):
                    outcomes[rank] = message
            failed = sorted(rank for rank, outcome in outcomes.items() if outcome.error)
            if failed:
                return _stopped(pipes, outcomes, processes, f"rank {failed[0]}: {outcomes[failed[0]].error}")
        for pipe in pipes:
            with contextlib.suppress(OSError):
                pipe.send("")
    return [outcomes[rank] for rank in range(len(pipes))]


def _messages(pipes: list[Connection], arrived: set[int], processes: list[Any], deadline: float) -> list[tuple[int, Any]]:
    """The next messages of ranks that have not yet arrived, or that they ended or were silent until the deadline."""
    open_pipes = {pipe: rank for rank, pipe in enumerate(pipes) if rank not in arrived}
    ready = wait(list(open_pipes), max(0.0, deadline + _GRACE / 2 - time.monotonic()))
    if not ready:
        return [(rank, Outcome({}, [], "no answer within the time limit")) for rank in open_pipes.values()]
    found = []
    for pipe in ready:
        assert isinstance(pipe, Connection)
        rank = open_pipes[pipe]
        try:
            found.append((rank, pipe.recv()))
        except (EOFError, OSError):
            processes[rank].join(_GRACE)
            found.append((rank, Outcome({}, [], f"the process ended, exit code {processes[rank].exitcode}")))
    return found


def _stopped(pipes: list[Connection], outcomes: dict[int, Outcome], processes: list[Any], reason: str) -> list[Outcome]:
    """Tell all ranks, and collect what each of them reports."""
    for pipe in pipes:
        with contextlib.suppress(OSError):
            pipe.send(f"stopped: {reason}")
    until = time.monotonic() + _GRACE
    final = {rank: outcome for rank, outcome in outcomes.items() if outcome.error}
    while len(final) < len(pipes) and time.monotonic() < until:
        for rank, message in _messages(pipes, set(final), processes, until - _GRACE / 2):
            if isinstance(message, Outcome) and message.error:
                final[rank] = message
    silent = Outcome({}, [], f"stopped while it waited: {reason}")
    return [final.get(rank, silent) for rank in range(len(pipes))]


class _Rank:
    """One process."""

    def __init__(
        self,
        rank: int,
        duties: Duties,
        kind: str,
        operation: str,
        outs: dict[int, socket.socket],
        ins: dict[int, socket.socket],
        deadline: float,
        tamper: Tamper | None,
    ) -> None:
        self.rank, self.duties, self.kind = rank, duties, kind
        self.outs, self.ins, self.deadline, self.tamper = outs, ins, deadline, tamper
        self.work = Work(rank, duties, kind, operation, self._send, self._received)
        self.queues: dict[int, queue.SimpleQueue[tuple[int, Vector]]] = {peer: queue.SimpleQueue() for peer in outs}
        self.next = {peer: cycle(duties.messages[peer, rank]) for peer in ins}
        self.early: dict[int, Vector] = {}  # by number, of messages that came before one that was sent later

    def report(self, pipe: Connection, iterations: int) -> None:
        """Execute and report; ends the process."""
        for peer in self.outs:
            threading.Thread(target=self._send_all, args=(peer,), daemon=True).start()
        seconds: list[float] = []
        try:
            for _ in range(iterations + 1):
                self.work.load()
                self._meet(pipe, "ready")
                start = time.perf_counter()
                self.work.run()
                seconds.append(time.perf_counter() - start)
            self._meet(pipe, Outcome(self.work.digests(), seconds[1:]))
        except (_FailedError, OSError) as error:
            with contextlib.suppress(OSError):
                pipe.send(Outcome({}, [], str(error)))
            os._exit(1)
        os._exit(0)

    def _meet(self, pipe: Connection, message: object) -> None:
        """Say something and wait until all others have."""
        pipe.send(message)
        if not pipe.poll(self._left()):
            raise _FailedError("the other ranks were not ready within the time limit")
        try:
            answer = pipe.recv()
        except EOFError:
            raise _FailedError("the process that started the ranks ended") from None
        if answer:
            raise _FailedError(answer)

    def _left(self) -> float:
        return max(0.001, self.deadline - time.monotonic())

    def _send(self, duty: Duty, values: Vector) -> None:
        if self.tamper is None or self.tamper(self.rank, duty.number):
            self.queues[duty.peer].put((duty.number, values))

    def _send_all(self, peer: int) -> None:
        """Send what is in a queue, in a thread of its own: a full socket must not keep the rank from receiving."""
        with contextlib.suppress(OSError):  # the peer ended; this rank learns it where it receives or waits
            while True:
                number, values = self.queues[peer].get()
                data = np.ascontiguousarray(values).data.cast("B")
                self.outs[peer].sendall(_HEAD.pack(number, len(data)))
                self.outs[peer].sendall(data)

    def _received(self, duty: Duty) -> Vector:
        while duty.number not in self.early:
            expected = next(self.next[duty.peer])
            number, length = _HEAD.unpack(self._bytes(duty, _HEAD.size))
            wanted = self.duties.counts[expected.dst[0]] * np.dtype(TYPES[self.kind]).itemsize
            if (number, length) != (expected.number, wanted):
                words = f"message {number} of {length} bytes came from rank {duty.peer}"
                raise _FailedError(f"{words}, not message {expected.number} of {wanted} bytes")
            self.early[number] = np.frombuffer(self._bytes(duty, length), TYPES[self.kind])
        return self.early.pop(duty.number)

    def _bytes(self, duty: Duty, count: int) -> bytearray:
        data = bytearray(count)
        view, peer = memoryview(data), self.ins[duty.peer]
        while view:
            peer.settimeout(self._left())
            try:
                got = peer.recv_into(view)
            except TimeoutError:
                raise _FailedError(f"message {duty.number} from rank {duty.peer} did not come within the time limit") from None
            except ConnectionError:
                got = 0
            if not got:
                raise _FailedError(f"rank {duty.peer} ended before it sent message {duty.number}")
            view = view[got:]
        return data
