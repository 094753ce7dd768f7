"""One worker of a computer: a host process, seen from its parent."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from certree.extras.workers.host import receive, send
from certree.extras.workers.task import KILLED, TIMED_OUT, Outcome

#: a worker has one core: libraries that would start threads do not
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Slot:
    """Runs one task at a time, each in a process of its own. The host is started by the first task, and again when it was killed.

    `kill` may be called by another thread: the task that runs then ends as killed, and no further one starts.
    """

    def __init__(self) -> None:
        self._host: subprocess.Popen[bytes] | None = None
        self._closed = False

    def run(self, request: Mapping[str, Any]) -> Outcome:
        """The outcome of one task, given by its `request`."""
        where = socket.gethostname()
        try:
            requests, answers = self._streams()
            send(requests, json.dumps(request).encode())
            known, document = receive(answers), receive(answers)
        except BrokenPipeError:
            known = document = None
        if known is None or document is None:
            self.close()
            return Outcome(error="its process was ended", kind=KILLED, host=where)
        facts = json.loads(known)
        used = {"cpu_seconds": facts["cpu_seconds"], "wall_seconds": facts["wall_seconds"], "host": where}
        if facts["ended"] == "time":
            return Outcome(error=f"took more than {request['time_limit']:g} s", kind=TIMED_OUT, **used)
        if facts["ended"] or not document:
            return Outcome(error=_death(facts["ended"]), kind=KILLED, **used)
        return Outcome(**json.loads(document), **used)

    def _streams(self) -> tuple[int, int]:
        """The streams for requests and answers."""
        if self._closed:
            raise BrokenPipeError
        if self._host is None:
            command = [sys.executable, "-m", "certree.extras.workers.host"]
            environment = os.environ | _ONE_THREAD
            pipe = subprocess.PIPE
            self._host = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True, bufsize=0
            )  # a session of its own: Ctrl-C in a terminal is for the parent alone
            assert self._host.stdin is not None
            send(self._host.stdin.fileno(), json.dumps({"path": sys.path}).encode())
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        return self._host.stdin.fileno(), self._host.stdout.fileno()

    def kill(self) -> None:
        """End the host, and the task that it runs, for good."""
        self._closed = True
        if self._host is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._host.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the host, if there is one; the next task starts another, unless there was a `kill`."""
        host, self._host = self._host, None
        if host is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(host.pid, signal.SIGKILL)
        host.wait()
        for stream in (host.stdin, host.stdout):
            assert stream is not None
            stream.close()


def _death(number: int) -> str:
    """How a process ended that gave no result, by the signal, or minus its exit code."""
    if number <= 0:
        return f"its process ended with exit code {-number}"
    return f"its process was ended by {signal.Signals(number).name}"
