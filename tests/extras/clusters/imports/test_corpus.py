"""Files of every kind: the network that is read, or what is asked. `CERTREE_CORPUS` names a folder with more files, where there is
one: `public.txt` has what comes of them."""

import os
from pathlib import Path

import pytest

from certree.extras.clusters.imports import load_imports
from certree.models.common.files import Opened
from certree.models.network.network_files import NETWORK_FORMATS, format_of
from certree.models.network.spec import parse_topology
from tests.extras.clusters.imports.corpus import outcome, rows

HERE = Path(__file__).parent
FILES = HERE / "files"
PUBLIC = Path(os.environ.get("CERTREE_CORPUS", HERE / "none"))


@pytest.mark.parametrize(("name", "expected"), list(rows(HERE / "corpus.txt")))
def test_own_files(name: str, expected: str) -> None:
    assert outcome(FILES, name) == expected


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="CERTREE_CORPUS names no folder")
@pytest.mark.parametrize(("name", "expected"), list(rows(HERE / "public.txt")))
def test_public_files(name: str, expected: str) -> None:
    assert outcome(PUBLIC, name) == expected


def test_every_format_has_a_file() -> None:
    """A file is known by its contents: the name does not matter."""
    names = {id(NETWORK_FORMATS[name]): name for name in NETWORK_FORMATS}
    found = {names[id(format_of(Opened(file)))] for file in [*FILES.iterdir(), HERE / "dgx1.txt", HERE / "dgx1.xml"]}
    assert set(load_imports()) <= found


def test_what_was_understood_is_told() -> None:
    """Every answer that no file gave is told, and what is not in the network."""
    notes = parse_topology(f"{FILES / 'cloud.xml'},speed=SYS:20GB/s,assume=a100").notes
    assert notes == (
        "assumed: GPUs are the PCI devices of a GPU's class, numbered in the order of their buses",
        "assumed: nvlinks=switched:12",
        "assumed: 25 GB/s for NV, as in a100",
        "took: 12 NVLinks from each of 4 GPUs to switches, which are one node",
        "left out: 2 switches, bridges or interfaces with a single cable",
        "took: 4 endpoints, 5 switches, 11 cables",
    )
