"""Writes in a process that ends, without any clean-up, in the middle of them."""

import os
import sys
from collections.abc import Callable

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
