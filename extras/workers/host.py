"""`python -m certree.extras.workers.host`: a process that forks for each task, so that a task may crash and leaves nothing behind.

Frames of a length and JSON come in by stdin; for each task two go out by stdout: what is known of the process, and the document of
its result (empty where it ended without one). Modules that a task loads are loaded here before the next one, which then
has them at once. When stdin ends, the task and the host end.
"""

import gc
import importlib
import json
import os
import select
import signal
import struct
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from certree.models.common.errors import CertreeError
from certree.models.common.files import canonical_json

_LENGTH = struct.Struct(">Q")
_READ = 1 << 20
REQUESTS, ERRORS = 0, 2


def send(stream: int, data: bytes) -> None:
    """Write one frame."""
    left = memoryview(_LENGTH.pack(len(data)) + data)
    while left:
        left = left[os.write(stream, left) :]


def receive(stream: int) -> bytes | None:
    """Read one frame; None where the stream ends."""
    head = _exactly(stream, _LENGTH.size)
    return None if head is None else _exactly(stream, _LENGTH.unpack(head)[0])


def _exactly(stream: int, count: int) -> bytes | None:
    pieces = []
    while count:
        piece = os.read(stream, min(count, _READ))
        if not piece:
            return None
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def main() -> None:
    """Run tasks until stdin ends."""
    answers = os.dup(1)
    os.dup2(ERRORS, 1)  # what a task prints is not part of its answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its hosts
    while (frame := receive(REQUESTS)) is not None:
        request = json.loads(frame)
        if "path" in request:
            sys.path[:] = request["path"]
            continue
        known, document, modules = _carried_out(request, answers)
        with suppress(BrokenPipeError):
            send(answers, json.dumps(known).encode())
            send(answers, document)
        for name in modules:
            with suppress(Exception):  # it was loaded in the task; what fails here is loaded there again
                importlib.import_module(name)


def _carried_out(request: dict[str, Any], answers: int) -> tuple[dict[str, Any], bytes, list[str]]:
    """The facts about the process of a task, its document, and the modules that it loaded."""
    with suppress(Exception):  # the task says what is wrong
        importlib.import_module(request["function"][0])
    gc.collect()
    gc.freeze()  # what is shared with the child stays shared
    begin = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        for stream in (reading, answers, REQUESTS):  # where the host is killed the parent sees that they end
            os.close(stream)
        _child(request, writing)
    os.close(writing)
    data = _answer(reading, child, request["time_limit"])
    os.close(reading)
    _, status, used = os.wait4(child, 0)
    known = {
        "ended": "time" if data is None else -os.waitstatus_to_exitcode(status),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 3),
        "wall_seconds": round(time.monotonic() - begin, 3),
    }
    modules, _, document = (data or b"").partition(b"\n")
    return known, document, modules.decode().split()


def _answer(reading: int, child: int, limit: float | None) -> bytes | None:
    """The output of the child; None where it was ended after its time. The host ends with the child where its parent is gone."""
    deadline = None if limit is None else time.monotonic() + limit
    pieces: list[bytes] = []
    while True:
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([reading, REQUESTS], [], [], wait)
        if not ready or REQUESTS in ready:
            os.kill(child, signal.SIGKILL)
            if ready:
                os._exit(0)
            return None
        piece = os.read(reading, _READ)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def _child(request: dict[str, Any], writing: int) -> None:
    """Run the function, write the modules that it loaded and its document, and end this process."""
    before = set(sys.modules)
    module, name = request["function"]
    try:
        document: dict[str, Any] = {"result": getattr(importlib.import_module(module), name)(request["arguments"])}
        data = canonical_json(document)
    except CertreeError as error:
        data = canonical_json({"error": str(error), "kind": type(error).__name__})
    except BaseException as error:
        if os.environ.get("CERTREE_DEBUG"):
            traceback.print_exc()
        data = canonical_json({"error": f"{type(error).__name__}: {error}", "kind": "internal"})
    loaded = " ".join(name for name in list(sys.modules) if name not in before)
    with suppress(BrokenPipeError), os.fdopen(writing, "wb") as stream:
        stream.write(loaded.encode() + b"\n" + data)
    os._exit(0)


if __name__ == "__main__":
    main()
