"""Hidden files and folders: a live writer is waited for, what a killed one has left is removed."""

import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Thread

import pytest

from certree.models.common.folders import replacing
from certree.models.common.folders.replacing import replacing_file, replacing_folder

WAYS = {"file": replacing_file, "folder": replacing_folder}
HIDDEN = {"file": ".out.certree", "folder": ".out.certree.d"}


def fill(hidden: Path, way: str, text: str) -> None:
    (hidden if way == "file" else hidden / "part").write_text(text)


def content(path: Path, way: str) -> str:
    return (path if way == "file" else path / "part").read_text()


def write(path: Path, way: str, text: str) -> None:
    with WAYS[way](path) as hidden:
        fill(hidden, way, text)


class Writer:
    """A process in the middle of a write of `out`, which goes on when told."""

    def __init__(self, path: Path, way: str) -> None:
        ready, started = os.pipe()
        go, self._go = os.pipe()
        self.id = os.fork()
        if self.id == 0:
            os.close(self._go)
            with WAYS[way](path) as hidden:
                fill(hidden, way, "half")
                os.write(started, b"x")
                os.read(go, 1)
                fill(hidden, way, "theirs")
            os._exit(0)
        os.read(ready, 1)
        for handle in (ready, started, go):
            os.close(handle)

    def end(self, kill: bool) -> None:
        if kill:
            os.kill(self.id, signal.SIGKILL)
        else:
            os.write(self._go, b"x")
        os.waitpid(self.id, 0)
        os.close(self._go)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kill", [False, True])
def test_a_live_writer_is_waited_for(kill: bool, way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    writer = Writer(path, way)
    ours = Thread(target=write, args=(path, way, "ours"))
    ours.start()
    time.sleep(0.05)
    assert ours.is_alive()
    assert content(tmp_path / HIDDEN[way] / ("new" if way == "folder" else ""), way) == "half"
    writer.end(kill)
    ours.join(30)
    assert content(path, way) == "ours"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("way", WAYS)
def test_what_a_killed_writer_leaves_is_removed(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    write(path, way, "old")
    Writer(path, way).end(kill=True)
    assert content(path, way) == "old"
    assert set(os.listdir(tmp_path)) == {"out", HIDDEN[way]}
    write(path, way, "new")
    assert content(path, way) == "new"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("way", WAYS)
def test_many_writers_at_once(way: str, tmp_path: Path) -> None:
    path, failed = tmp_path / "out", []

    def often(text: str) -> None:
        try:
            for _ in range(20):
                write(path, way, text)
        except OSError as error:
            failed.append(error)

    threads = [Thread(target=often, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed
    assert content(path, way) in {"0", "1", "2", "3"}
    assert os.listdir(tmp_path) == ["out"]


def refuse(*_arguments: object) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lock", [None, refuse])
def test_without_locks(lock: Callable[..., None] | None, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each writer has a name of its own, also next to a live one."""
    monkeypatch.setattr(replacing, "flock", lock)
    path = tmp_path / "out"
    inner: AbstractContextManager[Path] = WAYS[way](path)
    with inner as hidden:
        fill(hidden, way, "first")
        write(path, way, "second")
        assert content(path, way) == "second"
    assert content(path, way) == "first"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("way", WAYS)
def test_a_hidden_name_that_is_not_ours(way: str, tmp_path: Path) -> None:
    """Such as a symbolic link: it is left alone."""
    path = tmp_path / "out"
    (tmp_path / "other").mkdir()
    (tmp_path / HIDDEN[way]).symlink_to(tmp_path / "other" / "place")
    write(path, way, "new")
    assert content(path, way) == "new"
    assert set(os.listdir(tmp_path)) == {"out", "other", HIDDEN[way]}
    assert os.listdir(tmp_path / "other") == []
