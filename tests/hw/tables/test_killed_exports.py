"""Exports that are killed at any of their system calls leave the folder as it was, or new, never missing or in parts."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.common.folders.folder_exchange import exchange
from certree.models.machine.machine import load_machine
from tests.killed import killed_at, states_when_killed
from tests.verify.build import path_all_reduce

OLD = lower(path_all_reduce(), 4096, load_machine("multitree"))
NEW = lower(path_all_reduce(), 8192, load_machine("multitree"))


def test_a_folder_that_is_replaced_is_whole_at_any_moment(tmp_path: Path) -> None:
    folder, sizes = tmp_path / "tables", []
    for event in range(1000):
        export_tables(OLD, folder, "json", force=True)
        killed = killed_at(event, partial(export_tables, NEW, folder, "json", force=True))
        sizes.append(read_tables(folder).message_bytes)
        if not killed:
            break
    assert sizes[0] == 4096
    assert sizes == sorted(sizes)  # old up to some event, new from there on
    assert sizes[-1] == 8192
    assert len(sizes) > 10


def test_a_new_folder_is_whole_or_missing(tmp_path: Path) -> None:
    states = []
    for event in range(1000):
        folder = tmp_path / f"tables-{event}"
        killed = killed_at(event, partial(export_tables, NEW, folder, "json", force=True))
        states.append(folder.exists())
        if folder.exists():
            assert read_tables(folder).message_bytes == 8192
        if not killed:
            break
    assert states == sorted(states)
    assert (states[0], states[-1]) == (False, True)


@pytest.mark.parametrize("is_new", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_killed_at_every_system_call(is_new: bool, tmp_path: Path) -> None:
    """strace ends the process; what is left hidden next to the folder is gone after the next export."""
    place, left = tmp_path / "place", []
    place.mkdir()
    folder = place / "tables"

    def prepare() -> None:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            export_tables(OLD, folder, "json", force=True)

    def size() -> int:
        found = read_tables(folder).message_bytes if folder.exists() else 0
        left.append({path.name for path in place.iterdir()} - {"tables"})
        export_tables(NEW, folder, "json", force=True)
        assert [path.name for path in place.iterdir()] == ["tables"]
        return found

    sizes = states_when_killed(prepare, partial(export_tables, NEW, folder, "json", force=True), size, tmp_path / "log")
    assert sizes == sorted(sizes)
    assert set(sizes) == {0 if is_new else 4096, 8192}
    assert len(sizes) > 30
    hidden = [names for names in left if names]
    assert hidden == [{".tables.certree.d"}] * len(hidden)
    assert len(hidden) > 15


def test_folders_change_places(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "f").read_text() == "b"
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "a", tmp_path / "missing")


def test_without_an_exchange_two_renames_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certree.models.common.folders.replacing.exchange", lambda *_: False)
    export_tables(OLD, tmp_path / "t", "json")
    export_tables(NEW, tmp_path / "t", "json", force=True)
    assert read_tables(tmp_path / "t").message_bytes == 8192
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
    with pytest.raises(InputError, match="exists"):
        export_tables(replace(OLD), tmp_path / "t", "json")


def test_export_after_a_kill_between_two_renames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certree.models.common.folders.replacing.exchange", lambda *_: False)
    folder, missing = tmp_path / "t", 0
    for event in range(1000):
        export_tables(OLD, folder, "json", force=True)
        killed = killed_at(event, partial(export_tables, NEW, folder, "json", force=True))
        if not folder.exists():
            missing += 1
            with pytest.raises(InputError, match="t exists; name a new folder"):
                export_tables(NEW, folder, "json")
            assert read_tables(folder).message_bytes == 4096
        if not killed:
            break
    assert missing > 0
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
