"""A process that reads one file after the other; it is ended, and replaced, when a file takes it longer than a limit."""

import os
import resource
import traceback
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

from certree.models.common.errors import CertreeError

LIMIT = 20  # seconds for a file
BUDGET = "1/32"  # of the limits of checkers: what they cut off takes no longer than a few seconds
MEMORY = 6 << 30  # bytes of address space: a reader that takes more ends with MemoryError
#: what may come of a file, and the exit codes of commands and errors
OUTCOMES = {0: "accepted", 1: "invalid", 2: "refused", 3: "undecided"}
TIMEOUT = "time-out"

Reader = Callable[[Path], object]


def outcome(read: Reader, path: Path) -> str:
    """One of OUTCOMES, or the last line of a traceback. A reader returns an exit code, or anything else for a right file."""
    try:
        code = read(path)
    except CertreeError as error:
        if "\n" in str(error).strip():
            return f"several lines: {error!r}"
        code = error.exit_code
    except Exception:  # what a user would see as an internal error
        return traceback.format_exc().strip().splitlines()[-1][:300]
    return OUTCOMES.get(code, f"exit code {code}") if type(code) is int else "accepted"


class Worker:
    """Reads files by the readers of a table, in another process. A context: at its end the process has ended."""

    def __init__(self, readers: Mapping[str, Reader], limit: float = LIMIT) -> None:
        self._readers, self._limit = readers, limit
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def outcome(self, name: str, path: Path) -> str:
        """What comes of a file; TIMEOUT, or how the process died, where it gave no answer."""
        self._pipe.send((name, path))
        if not self._pipe.poll(self._limit):
            self._end()
            self._start()
            return TIMEOUT
        try:
            return str(self._pipe.recv())
        except EOFError:
            self._process.join()
            died = f"the process died: {self._process.exitcode}"
            self._start()
            return died

    def _start(self) -> None:
        context = get_context("fork")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._pipe, self._readers), daemon=True)
        self._process.start()
        other.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, others: Connection, readers: Mapping[str, Reader]) -> None:
    others.close()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ |= {"CERTREE_DEBUG": "1", "CERTREE_BUDGET": BUDGET}
    while True:
        try:
            name, path = pipe.recv()
        except EOFError:
            return
        pipe.send(outcome(readers[name], path))
