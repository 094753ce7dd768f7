"""Writes of single files that are killed at any of their system calls leave the old file or the new one, whole."""

from collections.abc import Callable
from pathlib import Path

import pytest

from certree.models.common.files import write_atomically
from certree.models.schedule.symmetric.symmetric_file import load_any_schedule, save_any_schedule
from tests.killed import killed_at, states_when_killed
from tests.verify.build import path_all_reduce

OLD, NEW = b"old\n" * 5_000, b"new!\n" * 20_000


def names(folder: Path) -> set[str]:
    """The names in a folder, hidden ones included."""
    return {entry.name for entry in folder.iterdir()}


def states(write: Callable[[], None], reset: Callable[[], None], state: Callable[[], object]) -> list[object]:
    """What there is after a kill at each event, and at last after none."""
    found: list[object] = []
    for event in range(200):
        reset()
        killed = killed_at(event, write)
        found.append(state())
        if not killed:
            return found
    raise AssertionError("the write never ended")


@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_a_file_that_is_replaced_is_whole_at_any_moment(name: str, tmp_path: Path) -> None:
    path, fresh = tmp_path / name, tmp_path / f"new-{name}"
    write_atomically(fresh, NEW, force=False)
    found = states(lambda: write_atomically(path, NEW, force=True), lambda: path.write_bytes(OLD) and None, path.read_bytes)
    assert found == sorted(found, key=lambda data: data != OLD)  # old up to some event, new from there on
    assert (found[0], found[-1]) == (OLD, fresh.read_bytes())
    assert set(found) == {OLD, fresh.read_bytes()}
    assert len(found) > 3


@pytest.mark.parametrize("before", [None, OLD])
def test_killed_at_every_system_call(before: bytes | None, tmp_path: Path) -> None:
    """The file is as before up to the renaming; what is left next to it is gone after the next write."""
    folder, left = tmp_path / "folder", []
    folder.mkdir()
    path = folder / "file"

    def prepare() -> None:
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_bytes(before)

    def state() -> bytes | None:
        found = path.read_bytes() if path.exists() else None
        left.append(names(folder) - {"file"})
        write_atomically(path, NEW, force=True)
        assert names(folder) == {"file"}
        return found

    found = states_when_killed(prepare, lambda: write_atomically(path, NEW, force=True), state, tmp_path / "log")
    assert found == sorted(found, key=lambda data: data != before)
    assert set(found) == {before, NEW}
    assert len(found) > 10
    hidden = [others for others in left if others]
    assert hidden == [{".file.certree"}] * len(hidden)
    assert len(hidden) > 5


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".npz"])
def test_a_new_schedule_is_whole_or_missing(suffix: str, tmp_path: Path) -> None:
    path, schedule = tmp_path / f"made{suffix}", path_all_reduce()

    def state() -> bool:
        assert not path.exists() or load_any_schedule(path).digest == schedule.digest
        return path.exists()

    found = states(lambda: save_any_schedule(schedule, path), lambda: path.unlink(missing_ok=True), state)
    assert found == sorted(found, key=bool)
    assert (found[0], found[-1]) == (False, True)
