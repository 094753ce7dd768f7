"""Tables of version 1 keep their bytes, and are read and run as before there were profiles."""

import hashlib
from pathlib import Path

import pytest

from certree.hw.run import run
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.tables.table_columns import Profile
from tests.hw.made import made

#: method, network, collective, bytes, machine; SHA-256 of the files as version 1 of the exporter wrote them; cycles
CASES = [
    ("multitree", "mesh:2x3", "all-reduce", 1 << 12, "multitree", "56cdaf600dcfcaa8", 1_959),
    ("packing", "torus:3x3", "all-reduce", 1 << 20, "multitree", "0aac4998e0375ea0", 30_662),
    ("multitree", "fattree:2x2", "all-gather", 1 << 14, "booksim2", "8bc06569fd396a6d", 849),
]


@pytest.mark.parametrize(("method", "spec", "collective", "size", "preset", "digest", "cycles"), CASES)
def test_tables_of_trees_keep_their_bytes(
    method: str, spec: str, collective: str, size: int, preset: str, digest: str, cycles: int, tmp_path: Path
) -> None:
    machine = load_machine(preset)
    export_tables(lower(made(method, spec, size, machine, collective), size, machine), tmp_path / "t")
    files = hashlib.sha256()
    for path in sorted((tmp_path / "t").iterdir()):
        files.update(path.name.encode() + path.read_bytes())
    assert files.hexdigest()[:16] == digest
    tables = read_tables(tmp_path / "t")
    assert tables.profile is Profile.TREES
    result = run(tables)
    assert (result.cycles, result.late, result.data_ok) == (cycles, 0, True)
