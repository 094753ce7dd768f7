"""Outputs that appear whole: written under a hidden name next to their place, then renamed.

The hidden name of an output is always the same one, and its writer holds a lock on it, which the system releases when the process
ends, however it ends. So a later writer of the same output waits for a live one, and removes what a killed one has left.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from certree.models.common.folders.folder_exchange import exchange

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # a system without these locks: as on file systems without them
    flock = None  # type: ignore[assignment]

_FILE = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A hidden file to write into that becomes `path` when the body ends well, and is deleted otherwise; OSError when the system
    refuses. Whenever the process is killed, `path` is as before or new."""
    with _held(path.with_name(f".{path.name}.certree"), is_folder=False) as hidden:
        try:
            yield hidden
            os.replace(hidden, path)  # from here on the hidden name is free for the next writer
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """An empty folder to write into that becomes `path` when the body ends well, and is deleted otherwise; a folder that it
    replaces is deleted, too. OSError when the system refuses.

    Whenever the process is killed, `path` is as before or new. Only where the system cannot exchange two folders at once is there
    a moment without any; the next writer then begins with the old one.
    """
    with _held(path.with_name(f".{path.name}.certree.d"), is_folder=True) as hidden:
        fresh, old = hidden / "new", hidden / "old"
        try:
            if old.exists() and not path.exists():
                old.rename(path)
            for left in (fresh, old):
                if left.exists():
                    shutil.rmtree(left)
            fresh.mkdir()
            yield fresh
            if not (path.exists() and exchange(fresh, path)):
                _take_turns(fresh, old, path)
        finally:
            shutil.rmtree(hidden)


def _take_turns(fresh: Path, old: Path, path: Path) -> None:
    """Rename in two steps; the second is undone where the first fails."""
    if path.exists():
        path.rename(old)
    try:
        fresh.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise


@contextmanager
def _held(hidden: Path, is_folder: bool) -> Iterator[Path]:
    """The hidden name, locked, or another one that no process has had where there are no locks."""
    handle = _locked(hidden, is_folder)
    if handle is None:
        hidden = hidden.with_name(f"{hidden.name}-{secrets.token_hex(4)}")
        handle = _opened(hidden, is_folder)
    try:
        yield hidden
    finally:
        os.close(handle)


def _locked(hidden: Path, is_folder: bool) -> int | None:
    """A lock on the hidden name as soon as no live process has it; None where that is impossible: no locks, or no permission."""
    while flock is not None:
        try:
            handle = _opened(hidden, is_folder)
        except OSError:
            return None
        try:
            flock(handle, LOCK_EX)
            if _is_at(hidden, handle):
                return handle
        except OSError:
            with suppress(OSError):
                hidden.rmdir() if is_folder else hidden.unlink()
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # the writer before has renamed or removed what was locked
    return None


def _opened(hidden: Path, is_folder: bool) -> int:
    """A handle of the hidden file or folder, which is made where there is none."""
    while is_folder:
        hidden.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # removed since, by the writer before
            return os.open(hidden, _FOLDER)
    return os.open(hidden, _FILE, 0o666)


def _is_at(hidden: Path, handle: int) -> bool:
    """Whether a name still is that of what is open."""
    try:
        return os.path.samestat(os.lstat(hidden), os.fstat(handle))
    except FileNotFoundError:
        return False
