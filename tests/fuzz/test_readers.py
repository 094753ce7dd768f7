"""Files that crashed readers once, and a few damaged ones for each reader; `make fuzz` has more."""

import shutil
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.readers import CORPUS, cases, outcome, readers, seeds

CASES = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    made = tmp_path_factory.mktemp("readers")
    return made, seeds(made)


@pytest.mark.parametrize("file", sorted(CORPUS.iterdir()), ids=lambda file: file.name)
def test_files_that_crashed_a_reader_once(file: Path, tmp_path: Path) -> None:
    suffix, read = readers()[file.name.split(".")[0]]
    assert outcome(read, shutil.copy(file, tmp_path / f"file{suffix}")) in ("refused", "read")


def test_what_is_damaged_is_right_before(folder: tuple[Path, dict[str, bytes]]) -> None:
    """Otherwise a reader would refuse the first line of all that it gets."""
    place, right = folder
    assert right.keys() == readers().keys()
    for name, (suffix, read) in readers().items():
        path = place / f"right{suffix}"
        path.write_bytes(right[name])
        assert outcome(read, path) == "read", name


@pytest.mark.parametrize("name", list(readers()))
def test_damaged_files(name: str, folder: tuple[Path, dict[str, bytes]]) -> None:
    place, right = folder
    for data, came in islice(cases(name, right[name], place, Random(1)), CASES):
        assert came in ("read", "refused"), (came, data[:200])
