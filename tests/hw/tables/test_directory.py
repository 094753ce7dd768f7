"""Tables directories: what is written is read back, and nothing else is accepted."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.formats import load_formats
from certree.hw.formats.bit_layout import Field, Widths
from certree.hw.formats.readmemh import ReadmemhFormat, decode, encode
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, TableFormatError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, NIL, ROW_COLUMNS
from certree.models.tables.tables import Tables
from tests.drawn import examples
from tests.hw.trees import MULTITREE, ROUTED, schedules
from tests.models.examples import schedule as by_hand
from tests.models.test_schemas import validator


@given(schedules(routed=True), st.integers(1, 10**6), st.sampled_from(list(load_formats())))
@examples(60)
def test_round_trip(schedule: Schedule, size: int, form: str):
    tables = lower(schedule, size, MULTITREE)
    with TemporaryDirectory() as folder:
        export_tables(tables, Path(folder) / "t", form)
        back = read_tables(Path(folder) / "t")
    assert back.schedule.digest == schedule.digest
    assert back.routes == tables.routes == schedule.routes
    for name in (*ROW_COLUMNS, *ARRIVAL_COLUMNS):
        ours, theirs = getattr(tables, name), getattr(back, name)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours[:, : theirs.shape[1]] if name == "children" else ours, theirs)
    for name in ("delay", "period", "repeats", "message_bytes", "chunk_bytes", "slot_cycles", "machine", "collective"):
        assert getattr(back, name) == getattr(tables, name)


def test_files(exported: Path):
    names = sorted(path.name for path in exported.iterdir())
    images = [f"{kind}_{node:04d}.hex" for kind in ("arrivals", "node") for node in range(6)]
    assert names == sorted([*images, "layout.md", "manifest.json", "table.json"])


def test_same_tables_same_bytes(tables: Tables, tmp_path: Path):
    for name in ("a", "b"):
        export_tables(tables, tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_routes_are_ports_then_eject(tmp_path: Path):
    """Every line of routes.hex, followed from the node of a row that takes it, ends at the row's destination."""
    tables = lower(ROUTED, 5000, MULTITREE)
    export_tables(tables, tmp_path / "t")
    widths = Widths.of(tables)
    lines = decode((tmp_path / "t" / "routes.hex").read_bytes(), widths.ports(), "routes.hex")
    assert len(lines) == len(tables.routes) > 0
    topology = tables.topology
    for row in range(len(tables.node)):
        assert tables.route[row] != NIL  # no two endpoints of a fat tree are neighbours
        at, line = int(tables.node[row]), lines[tables.route[row]].tolist()
        assert line[-1] == NIL
        for port in line[: line.index(NIL)]:
            at = int(topology.dst[np.flatnonzero(topology.src == at)[port]])
        assert at == tables.first_destination[row]
    assert "Source routes (`routes.hex`)" in (tmp_path / "t" / "layout.md").read_text()


def test_golden_image():
    """Fields most significant first, nil all ones, zeros on top."""
    fields = Widths(flow=2, node=3, children=2, step=2, addr=4, size=1, route=1, port=1, hops=1).row()
    line = encode(np.array([[2, 3, NIL, 1, NIL, 2, 5, 1, NIL]]), fields)
    bits = "10" + "11" + "111" + "001" + "111" + "10" + "0101" + "1" + "1"
    assert line == f"{int(bits, 2):06x}\n".encode()
    assert decode(line, fields, "x").tolist() == [[2, 3, NIL, 1, NIL, 2, 5, 1, NIL]]


@given(st.data())
@examples(60)
def test_images_of_any_width(data: st.DataObject):
    fields = [Field("f", bits, nullable=False) for bits in data.draw(st.lists(st.integers(1, 62), min_size=1, max_size=8))]
    row = st.tuples(*(st.integers(0, (1 << field.bits) - 1) for field in fields))
    values = np.array(data.draw(st.lists(row, max_size=5)), np.int64).reshape(-1, len(fields))
    assert np.array_equal(decode(encode(values, fields), fields, "x"), values)


def test_layout_names_every_bit_once(exported: Path, tables: Tables):
    text = (exported / "layout.md").read_text().split("## Expected arrivals")[0]
    spans = [cells.split("|")[2].strip().split(":") for cells in text.splitlines() if cells.startswith("| `")]
    bits = [bit for high, low in spans for bit in range(int(low), int(high) + 1)]
    assert sorted(bits) == list(range(sum(field.bits for field in Widths.of(tables).row())))


def test_an_endpoint_without_rows_has_empty_images(tmp_path: Path):
    """One transfer 1 -> 0 on mesh:2x2 less node 3: node 2 has neither rows nor arrivals, node 3 does not exist."""
    schedule = by_hand("mesh:2x2,without-node=3", "all-reduce", [NO_ROOT], "1+0")
    export_tables(lower(schedule, 999, MULTITREE), tmp_path / "t")
    filled = {path.name for path in (tmp_path / "t").glob("*.hex") if path.stat().st_size}
    assert filled == {"node_0001.hex", "arrivals_0000.hex"}
    assert len(list((tmp_path / "t").glob("*.hex"))) == 2 * 3
    assert read_tables(tmp_path / "t").schedule.digest == schedule.digest


def test_refuses_to_overwrite(tables: Tables, exported: Path):
    before = (exported / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="--force"):
        export_tables(tables, exported, "json")
    assert (exported / "manifest.json").read_bytes() == before
    export_tables(tables, exported, "json", force=True)
    assert sorted(path.name for path in exported.iterdir()) == ["manifest.json", "table.json"]


def test_force_never_deletes_foreign_folders(tables: Tables, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not a tables directory"):
        export_tables(tables, tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_unknown_format_and_folder(tables: Tables, tmp_path: Path):
    with pytest.raises(InputError, match=r"unknown table format .verilog.; did you mean 'systemverilog'. known: .*readmemh"):
        export_tables(tables, tmp_path / "t", "verilog")
    with pytest.raises(InputError, match="does not exist"):
        export_tables(tables, tmp_path / "none" / "t")
    with pytest.raises(InputError, match="is not a directory"):
        read_tables(tmp_path / "t")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_folder(tables: Tables, exported: Path, monkeypatch: pytest.MonkeyPatch):
    before = {path.name: path.read_bytes() for path in exported.iterdir()}
    real = Path.write_bytes

    def full_disk(path: Path, data: bytes) -> int:
        if path.name == "table.json":
            raise OSError(28, "No space left on device")
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        export_tables(tables, exported, force=True)
    assert {path.name: path.read_bytes() for path in exported.iterdir()} == before
    assert [path.name for path in exported.parent.iterdir()] == [exported.name]


def test_numbers_of_a_format_are_not_cut_to_32_bits(exported: Path, monkeypatch: pytest.MonkeyPatch):
    whole = ReadmemhFormat.columns
    monkeypatch.setattr(ReadmemhFormat, "columns", lambda *args: whole(*args) | {"step": whole(*args)["step"] + (1 << 32)})
    with pytest.raises(TableFormatError, match="step has entries outside -2147483648 to 2147483647"):
        read_tables(exported)


def test_malformed_tables_leave_nothing_behind(tables: Tables, tmp_path: Path):
    with pytest.raises(TableFormatError, match=r"table row 0 \(.*\) has address 1; needed: 0 granules"):
        export_tables(replace(tables, addr=tables.addr + 1), tmp_path / "t")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", list(load_formats()))
def test_every_format_conforms(tables: Tables, tmp_path: Path, name: str):
    export_tables(tables, tmp_path / "t", name)
    assert load_formats().explain(name)
    validator("tables").validate(json.loads((tmp_path / "t" / "manifest.json").read_text()))


WRONG = [None, True, -7, 0, 1.5, 1 << 70, "text", [], {}, [None], {"x": 1}]


def test_what_the_schema_refuses_the_reader_refuses(exported: Path):
    """Every field of the manifest, and of its widths, machine and files, in turn becomes each of a list of wrong values."""
    path, refused = exported / "manifest.json", 0
    original = json.loads(path.read_text())
    places = [(original, key) for key in original] + [
        (original[part], key) for part in ("widths", "machine") for key in original[part]
    ]
    places += [(original["files"], key) for key in ("layout.md", "node_0000.hex")]  # the others are like these
    schema = validator("tables")
    for owner, key in places:
        right = owner[key]
        for value in WRONG:
            owner[key] = value
            if not schema.is_valid(original):
                path.write_text(json.dumps(original))
                refused += 1
                with pytest.raises(InputError):
                    read_tables(exported)
        owner[key] = right
    assert refused > 300


def test_what_the_testbenches_leave_is_no_fault(exported: Path):
    digest = read_tables(exported).schedule.digest
    (exported / "obj_dir").mkdir()
    (exported / "sim_build").mkdir()
    (exported / "waves.vcd").write_bytes(b"$date")
    assert read_tables(exported).schedule.digest == digest
    (exported / "other.vcd").write_bytes(b"$date")
    with pytest.raises(TableFormatError, match=r"other\.vcd is not in the manifest"):
        read_tables(exported)
