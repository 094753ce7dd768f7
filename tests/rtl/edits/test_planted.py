"""Edits of what opens the next tables: each is found by what is stated of it."""

from pathlib import Path

import pytest

from certree.hw.formats.systemverilog.testbench import reference_files
from tests.rtl.banks import PAIRS, joint
from tests.rtl.edits.planted import PLANTED, Planted, exported, found
from tests.rtl.tools import verilator, yosys


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    exported(folder)
    return folder


def test_edits_are_other_texts(tmp_path: Path) -> None:
    files = reference_files(joint(*next(iter(PAIRS.values()))().images)[0])
    for edit in PLANTED:
        (tmp_path / edit.file).write_bytes(files[edit.file])
        edit.applied(tmp_path)
        assert (tmp_path / edit.file).read_bytes() != files[edit.file]
    assert len({(edit.file, edit.before, edit.after) for edit in PLANTED}) == len(PLANTED)


@pytest.mark.slow
@pytest.mark.skipif(verilator() is None or yosys() is None, reason="needs Verilator and Yosys")
@pytest.mark.parametrize("edit", PLANTED, ids=lambda edit: edit.name)
def test_each_edit_is_found(edit: Planted, sources: Path) -> None:
    assert found(edit, sources)
