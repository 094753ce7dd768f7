"""Writes in a process that ends, without any clean-up, in the middle of them."""

import gc
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

KILLED = 9
#: what Python tells before a system call that changes files, or the next one of the write
EVENTS = ("open", "os.", "shutil.", "tempfile.", "ctypes.")


def killed_at(event: int, write: Callable[[], None]) -> bool:
    """Write in a process of its own that ends, without any clean-up, before its event of that number. Whether it was killed."""
    child = os.fork()
    if child == 0:
        seen = 0

        def count(name: str, _arguments: object) -> None:
            nonlocal seen
            if name.startswith(EVENTS):
                if seen == event:
                    os._exit(KILLED)
                seen += 1

        sys.addaudithook(count)
        write()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


#: a line that strace writes for a system call
_CALL = re.compile(r"^(?:\d+\s+)?(\w+)\(", re.MULTILINE)
_IDLE = "getppid"  # the call that a process makes until it is told to write


def states_when_killed(prepare: Callable[[], object], write: Callable[[], object], state: Callable[[], T], log: Path) -> list[T]:
    """The state after a write that is killed at each of its system calls in turn, by strace; `prepare` makes what was there before.

    `log`: a file for strace's output. Skips the test without strace, or where processes may not trace others.
    """
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    prepare()
    if _straced(write, log) != 0 or not (calls := _CALL.findall(log.read_text())):
        pytest.skip("strace cannot trace processes here")
    seen, states = Counter[str](), []
    for call in (call for call in calls if call != _IDLE):
        seen[call] += 1
        prepare()
        ended = _straced(write, log, "-e", f"trace={_IDLE},{call}", "-e", f"inject={call}:signal=KILL:when={seen[call]}")
        assert ended == -signal.SIGKILL, (call, seen[call], ended)
        states.append(state())
    return states


def _straced(write: Callable[[], object], log: Path, *options: str) -> int:
    """The exit code of a process that writes as soon as strace sees its system calls; `log` has those from then on."""
    is_there, go = 0, 1
    told = mmap.mmap(-1, 2)  # shared
    log.write_text("")
    child = os.fork()
    if child == 0:
        gc.disable()  # what it would close is not of the write
        told[is_there] = 1  # what Python does after a fork is over
        while told[go] == 0:
            os.getppid()
        write()
        os._exit(0)
    while told[is_there] == 0:
        time.sleep(0.001)
    with subprocess.Popen(["strace", "-qq", "-o", str(log), *options, "-p", str(child)], stderr=subprocess.DEVNULL) as tracer:
        while f"{_IDLE}(" not in log.read_text() and tracer.poll() is None:
            time.sleep(0.001)
        told[go] = 1
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
