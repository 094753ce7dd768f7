"""Altered and forged tables directories, and tables that lowering cannot produce: each is refused with the reason."""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certree.hw.formats import load_formats
from certree.hw.formats.bit_layout import Widths
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.hw.tables.manifest import file_entry
from certree.models.common.errors import InputError, TableFormatError
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.table_form import require_sound
from certree.models.tables.tables import Tables
from tests.hw.trees import MULTITREE, ROUTED, tree_schedule


def rewrite(directory: Path, name: str, change: Callable[[str], str], *, seal: bool) -> None:
    """Alter a file; `seal` also puts its new size and checksums into the manifest, as a careful forger would."""
    path = directory / name
    path.write_text(change(path.read_text()))
    if seal:
        manifest = json.loads((directory / "manifest.json").read_text())
        manifest["files"][name] = file_entry(path.read_bytes())
        (directory / "manifest.json").write_text(json.dumps(manifest))


def remanifest(directory: Path, **fields: object) -> None:
    path = directory / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def first_line(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "\n".join([change(text.split("\n")[0]), *text.split("\n")[1:]])


def cut(text: str) -> str:
    """Without the first line."""
    return text.split("\n", 1)[1]


def in_table(change: Callable[[dict], object]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        document = json.loads(text)
        change(document)
        return json.dumps(document)

    return apply


FORGED_ROUTES = {
    "an-unknown-port": (lambda t: t["routes"][0].__setitem__(0, 7), r"route 0 takes port 7 of node \d, which has no such port"),
    "an-empty-route": (lambda t: t["routes"][0].clear(), r"route 0 is \[-1, .*\]; a route is a port or more, then eject"),
    "cut-short": (lambda t: t["routes"][0].pop(), r"table row \d+ .* takes route \d, which leads from node \d to node \d"),
    "one-more": (lambda t: t["routes"].append([0]), r"route \d+ is taken by no row"),
    "one-less": (lambda t: t["routes"].pop(), r"a row takes route \d+; there are \d+"),
    "swapped": (lambda t: t["routes"].reverse(), r"table row \d+ .* takes route \d, which leads from node \d to node \d"),
    "no-list": (lambda t: t.__setitem__("routes", {}), r"routes must be a list of lists of ports"),
    "no-port": (lambda t: t["routes"][0].__setitem__(0, "0"), r"routes row 0: '0' is not a whole number"),
    "missing": (lambda t: t.pop("routes"), r"must hold arrival_columns, arrivals, routes, row_columns, rows"),
    "no-route-in-a-row": (lambda t: t["rows"][0].__setitem__(8, None), r"another schedule|taken by no row"),
}


@pytest.mark.parametrize("fault", FORGED_ROUTES)
def test_forged_routes(tmp_path: Path, fault: str):
    change, reason = FORGED_ROUTES[fault]
    export_tables(lower(ROUTED, 5000, MULTITREE), tmp_path / "t", "json")
    rewrite(tmp_path / "t", "table.json", in_table(change), seal=True)
    with pytest.raises(TableFormatError, match=reason):
        read_tables(tmp_path / "t")


def test_a_route_is_for_one_destination():
    tables = lower(ROUTED, 5000, MULTITREE)
    row = int(np.argmax((tables.op == RowOp.GATHER) & (tables.children[:, 0] < 5)))
    children = np.pad(tables.children, ((0, 0), (0, 1)), constant_values=NIL)
    children[row, 1] = 5
    with pytest.raises(TableFormatError, match=rf"table row {row} .* has one route for several destinations"):
        require_sound(replace(tables, children=children))


IMAGE = "node_0002.hex"
UNSEALED = {
    "a-changed-digit": (lambda d: rewrite(d, IMAGE, lambda t: t.replace("0", "1", 1), seal=False), r"node_0002.hex: crc32"),
    "a-truncated-image": (lambda d: rewrite(d, IMAGE, lambda t: t[:-3], seal=False), r"node_0002.hex: bytes"),
    "a-missing-image": (lambda d: (d / "arrivals_0001.hex").unlink(), r"arrivals_0001.hex is missing"),
    "an-extra-file": (lambda d: (d / "node_0009.hex").write_text(""), r"node_0009.hex is not in the manifest"),
    "no-manifest": (lambda d: (d / "manifest.json").unlink(), r"cannot read .*manifest.json"),
    "manifest-cut-short": (lambda d: (d / "manifest.json").write_text('{"format": '), r"manifest.json is not JSON"),
    "manifest-of-another-kind": (lambda d: remanifest(d, format="certree-schedule"), r"format is 'certree-schedule'"),
    "manifest-of-another-version": (lambda d: remanifest(d, version=3), r"version 3 cannot be read; expected 1 or 2"),
    "unknown-encoding": (lambda d: remanifest(d, encoding="vhdl"), r"encoding 'vhdl'; known: .*readmemh"),
    "unknown-field": (lambda d: remanifest(d, colour="red"), "unknown field 'colour'"),
    "zero-repeats": (lambda d: remanifest(d, repeats=0), r"repeats is 0; allowed: whole numbers from 1"),
    "a-slot-that-is-no-number": (lambda d: remanifest(d, slot_cycles="9"), r"slot_cycles is '9'"),
    "another-topology-digest": (lambda d: remanifest(d, topology_digest="0" * 64), r"topology_digest is '0000"),
    "another-schedule-digest": (
        lambda d: remanifest(d, schedule_digest="0" * 64),
        r"execute a schedule other than that of the digest",
    ),
    "another-message-size": (lambda d: remanifest(d, message_bytes=50_000), r"chunks of \d+ bytes; 50000 bytes in 3 x"),
    "another-period": (lambda d: remanifest(d, period=999), r"execute a schedule other than that of the digest"),
    "another-granule": (lambda d: remanifest(d, granule_bytes=8), r"granule_bytes is 8; the other fields imply 16"),
    "another-padding": (lambda d: remanifest(d, padded_bytes=5000), r"padded_bytes is 5000"),
    "widths-that-are-none": (lambda d: remanifest(d, widths={"flow": 2}), "widths: node, children, .* are missing; known: flow"),
    "a-width-out-of-range": (
        lambda d: remanifest(d, widths=json.loads((d / "manifest.json").read_text())["widths"] | {"flow": 0}),
        "widths: flow is 0; allowed: whole numbers from 1 to 62",
    ),
}


@pytest.mark.parametrize("fault", UNSEALED)
def test_altered_directories(exported: Path, fault: str):
    alter, reason = UNSEALED[fault]
    alter(exported)
    with pytest.raises(InputError, match=reason):
        read_tables(exported)


SEALED = {
    "a-short-line": (IMAGE, first_line(lambda line: line[1:]), r"node_0002.hex: line 1 is not \d+ hex digits long"),
    "no-hex-digit": (IMAGE, first_line(lambda line: "g" + line[1:]), r"line 1 holds something other than the digits"),
    "a-comment": (IMAGE, lambda text: "// rows\n" + text, r"line 1 is not"),
    "padding-set": ("arrivals_0002.hex", first_line(lambda line: "f" + line[1:]), r"line 1 has bits above"),
    "a-row-gone": (IMAGE, cut, r"table.json and the hex images differ in column node"),
    "an-arrival-gone": ("arrivals_0002.hex", cut, r"table.json and the hex images differ in column arrival_node"),
    "another-layout": ("layout.md", lambda text: text.replace("| 2 |", "| 3 |"), r"layout.md does not describe"),
    "another-readable-table": (
        "table.json",
        in_table(lambda table: table["rows"][0].__setitem__(5, 77)),
        r"the hex images differ in column step",
    ),
}


@pytest.mark.parametrize("fault", SEALED)
def test_forged_images(exported: Path, fault: str):
    name, change, reason = SEALED[fault]
    rewrite(exported, name, change, seal=True)
    with pytest.raises(TableFormatError, match=reason):
        read_tables(exported)


FORGED_ROWS = {
    "a-row-twice": (lambda t: t["rows"].insert(1, t["rows"][0]), r"table row 1 .* stands behind table row 0"),
    "rows-swapped": (lambda t: t["rows"].insert(0, t["rows"].pop(1)), r"table row 1 .* stands behind table row 0"),
    "a-row-missing": (lambda t: t["rows"].pop(), r"node \d expects a \w+ of flow \d from node \d, which no row sends"),
    "an-arrival-missing": (lambda t: t["arrivals"].pop(), r"node \d does not expect a \w+ of flow \d from node \d"),
    "an-arrival-twice": (
        lambda t: t["arrivals"].insert(0, t["arrivals"][0]),
        r"node 0 expects a \w+ of flow \d from node \d, 2 times; rows send it 1 times",
    ),
    "an-unknown-op": (lambda t: t["rows"][0].__setitem__(1, "SCATTER"), r"op row 0: 'SCATTER'; allowed: NOP, REDUCE, GATHER"),
    "a-nop-row": (
        lambda t: t["rows"][0].__setitem__(1, "NOP"),
        r"table row 0 \(NOP of flow \d at node 0, step \d\) commands nothing",
    ),
    "a-flow-out-of-range": (lambda t: t["rows"][0].__setitem__(2, 3), r"flow row 0: 3; allowed: 0 to 2"),
    "a-node-out-of-range": (lambda t: t["rows"][-1].__setitem__(0, 6), r"node row \d+: 6; allowed: 0 to 5"),
    "no-whole-number": (lambda t: t["rows"][0].__setitem__(5, 1.5), r"step row 0: 1.5 is not a whole number"),
    "minus-one-for-nil": (lambda t: t["rows"][0].__setitem__(3, -1), r"parent holds -1"),
    "another-address": (lambda t: t["rows"][0].__setitem__(6, 1), r"has address 1; needed: 0 granules"),
    "another-size": (lambda t: t["rows"][0].__setitem__(7, 1), r"has size 1; needed: \d+ granules"),
    "a-route": (lambda t: t["rows"][0].__setitem__(8, 0), r"a row takes route 0; there are 0"),
    "a-field-missing": (lambda t: t["rows"][0].pop(), r"rows row 0 must be a list of 9 fields"),
    "columns-renamed": (lambda t: t["row_columns"].reverse(), r"row_columns must be"),
    "too-many-children": (lambda t: t["rows"][0].__setitem__(4, [0] * 9), r"children row 0 must be a list of at most"),
    "another-order-of-children": (
        lambda t: next(row for row in t["rows"] if len(row[4]) > 1)[4].reverse(),
        r"names a child twice or behind a larger one",
    ),
    "another-step": (lambda t: t["rows"][-1].__setitem__(5, t["rows"][-1][5] - 1), r"stands behind|a schedule other than"),
    "a-dependency-on-nobody": (
        lambda t: next(row for row in t["rows"] if row[1] == "REDUCE" and not row[4]).__setitem__(4, [5]),
        r"waits for a REDUCE of flow \d from node 5, which node \d does not expect",
    ),
}


@pytest.mark.parametrize("fault", FORGED_ROWS)
def test_forged_rows(tables: Tables, tmp_path: Path, fault: str):
    change, reason = FORGED_ROWS[fault]
    export_tables(tables, tmp_path / "t", "json")
    rewrite(tmp_path / "t", "table.json", in_table(change), seal=True)
    with pytest.raises(TableFormatError, match=reason):
        read_tables(tmp_path / "t")


def test_another_capacity_is_another_topology(exported: Path):
    manifest = json.loads((exported / "manifest.json").read_text())
    manifest["topology"]["links"]["capacity"][0] = 2
    (exported / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TableFormatError, match=r"topology_digest is .*the other fields imply"):
        read_tables(exported)


def test_a_step_of_more_than_32_bits_is_not_cut_short(tables: Tables, tmp_path: Path):
    """Step + 2^33 in the hex image and a manifest with fields wide enough for it; the low 32 bits alone would be the right step."""
    widths = replace(Widths.of(tables), step=34)
    wide = copy(tables)
    object.__setattr__(wide, "step", tables.step.astype(np.int64) + (1 << 33))  # the constructor refuses it
    files = load_formats()["readmemh"]().files(wide, widths)
    with pytest.raises(InputError, match=r"step row 0: \d+; allowed: 0 to"):
        load_formats()["readmemh"]().columns(files, widths, tables.topology.endpoints.tolist())


def test_rows_of_a_removed_node_are_refused():
    tables = lower(
        tree_schedule("mesh:3x3,without-node=4", CollectiveKind.ALL_REDUCE, 1, delay=1, repeats=1, seed=1), 64, MULTITREE
    )
    node = tables.node.copy()
    node[int(np.argmax(node == 5))] = 4
    with pytest.raises(TableFormatError, match=r"node row \d+: node 4 is not an endpoint"):
        require_sound(replace(tables, node=node))


def test_rows_without_a_destination_are_refused(tables: Tables):
    row = int(np.argmax(tables.op == 1))
    parent = tables.parent.copy()
    parent[row] = NIL
    with pytest.raises(TableFormatError, match=r"table row \d+ \(REDUCE .*\) commands nothing"):
        require_sound(replace(tables, parent=parent))
    children = tables.children.copy()
    children[int(np.argmax(tables.op == 2))] = NIL
    with pytest.raises(TableFormatError, match=r"table row \d+ \(GATHER .*\) commands nothing"):
        require_sound(replace(tables, children=children))
