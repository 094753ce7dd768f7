"""Files that readers failed on once, and a few damaged ones for each reader and form; `make fuzz` has more."""

import shutil
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.readers import CORPUS, Subject, cases, subjects
from tests.fuzz.worker import OUTCOMES, TIMEOUT, Worker

CASES = 8


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Subject]]:
    folder = tmp_path_factory.mktemp("readers")
    return folder, subjects(folder)


@pytest.fixture(scope="module")
def worker(known: tuple[Path, dict[str, Subject]]) -> Iterator[Worker]:
    with Worker({subject.name: subject.read for subject in known[1].values()}) as running:
        yield running


def test_what_is_damaged_is_right_before(known: tuple[Path, dict[str, Subject]], worker: Worker) -> None:
    """Otherwise a reader would refuse the first line of all that it gets."""
    folder, found = known
    for subject in found.values():
        path = folder / f"right{subject.suffix}"
        path.write_bytes(subject.right)
        assert worker.outcome(subject.name, path) == "accepted", subject.name


@pytest.mark.parametrize("file", sorted(CORPUS.iterdir()), ids=lambda file: file.name)
def test_files_that_a_reader_failed_on_once(file: Path, known: tuple[Path, dict[str, Subject]], worker: Worker) -> None:
    folder, found = known
    subject = found[".".join(file.name.split(".")[:2])]
    copy = Path(shutil.copy(file, folder / f"kept{subject.suffix}"))
    assert worker.outcome(subject.name, copy) in OUTCOMES.values()


def test_damaged_files(known: tuple[Path, dict[str, Subject]], worker: Worker) -> None:
    folder, found = known
    for subject in found.values():
        for data in islice(cases(subject, Random(1)), CASES):
            path = folder / f"damaged{subject.suffix}"
            path.write_bytes(data)
            came = worker.outcome(subject.name, path)
            assert came in OUTCOMES.values(), (subject.name, came, data[:200])


def test_a_file_that_takes_too_long_and_one_that_ends_the_process() -> None:
    """Neither hides what comes after it."""

    def read(path: Path) -> int:
        if path.name == "long":
            time.sleep(60)
        if path.name == "dies":
            raise SystemExit(9)
        return 1

    with Worker({"one": read}, limit=1) as alone:
        came = [alone.outcome("one", Path(name)) for name in ("long", "dies", "wrong")]
    assert came == [TIMEOUT, "the process died: 9", "invalid"]
