"""Tables for interfaces without slots: they say so, their golden trace is a paced run, and what cannot run so is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.api.artefacts import Asked, verify_artefact
from certree.extras.tla.check.paced.waiting import most_waiting
from certree.hw.engines.runs import Options
from certree.hw.engines.table_rows import NotPacedError
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.images import slot_rows
from certree.hw.formats.systemverilog.sizes import sizes_of
from certree.hw.formats.systemverilog.staging import staged_chunk_bits
from certree.hw.formats.systemverilog.window import MOST_LOCKSTEP_ROWS, lane_queue, lockstep_rows
from certree.hw.golden import golden_trace, trace_files
from certree.hw.run import run
from certree.hw.switching import run_switched
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, TableFormatError, UnsupportedError
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.table_columns import LOCKSTEP, SLOTTED
from certree.models.tables.tables import Tables
from tests.hw.counted import exchanges
from tests.hw.tables.test_forged_tables import remanifest, rewrite
from tests.hw.trees import MULTITREE, tree_schedule
from tests.verify.build import build


def trees(network: str = "mesh:2x2", repeats: int = 3, size: int = 3000) -> Tables:
    schedule = tree_schedule(network, CollectiveKind.ALL_REDUCE, 2, delay=2, repeats=repeats, seed=3)
    return replace(lower(schedule, size, MULTITREE), control=LOCKSTEP)


def exported(tables: Tables, folder: Path) -> Path:
    export_tables(tables, folder / "t", "systemverilog", more=trace_files(tables, "systemverilog"))
    return folder / "t"


def test_a_folder_reads_back_with_its_control(tmp_path: Path) -> None:
    folder = exported(trees(), tmp_path)
    assert read_tables(folder).control == LOCKSTEP
    assert verify_artefact(folder, Asked()).valid
    assert "IS_LOCKSTEP = 1;" in (folder / "certree_ni_pkg.sv").read_text()
    assert "\n## Lockstep\n" in (folder / "CONTRACT.md").read_text()


def test_the_golden_trace_is_that_of_a_paced_run(tmp_path: Path) -> None:
    tables = trees()
    counted = [line for line in golden_trace(tables).decode().splitlines() if ",count," in line]
    assert max(int(line.partition(",")[0]) for line in counted) == run(tables, Options(mode="paced", without_routers=True)).cycles
    folder = exported(tables, tmp_path)
    slotted = trace_files(replace(tables, control=SLOTTED), "systemverilog")
    rewrite(folder, "trace.csv", lambda _: slotted["trace.csv"].decode(), seal=True)
    with pytest.raises(TableFormatError, match=r"trace.csv: line \d+ is .*; a run of these tables has"):
        verify_artefact(folder, Asked())


def test_a_manifest_without_the_control_is_of_other_files(tmp_path: Path) -> None:
    folder = exported(trees(), tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest.pop("control") == LOCKSTEP
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TableFormatError, match="profile is trees in version 2, without"):
        read_tables(folder)
    remanifest(folder, control=SLOTTED)
    with pytest.raises(TableFormatError, match="control is 'slotted'"):
        read_tables(folder)


def test_banks_of_tables_without_slots(tmp_path: Path) -> None:
    """B8: images have headers, and nothing says when a run of others follows; a slotted run of both has no meaning."""
    first = replace(trees(), epoch=3)
    folder = exported(first, tmp_path)
    assert read_tables(folder).epoch == 3
    assert (folder / "slots_header_0000.hex").exists()
    with pytest.raises(InputError, match=r"the first tables are for lockstep, whose runs have a start of their own \(B8\)"):
        run_switched(first, replace(trees(), epoch=4), Options())
    with pytest.raises(TableFormatError, match="control is 'paced'; allowed: slotted, lockstep"):
        replace(trees(), control="paced")


def test_formats_without_an_interface_have_no_control(tmp_path: Path) -> None:
    schedule = ct.synthesize("mesh:2x2", size="1KiB", method="multitree")
    with pytest.raises(InputError, match="control lockstep: json describes no interface"):
        ct.export(schedule, "json", tmp_path / "t", control=LOCKSTEP)
    assert ct.export(schedule, "systemverilog", tmp_path / "t", control=LOCKSTEP).additions is None


def test_rows_that_only_slots_keep_right_are_refused() -> None:
    with pytest.raises(NotPacedError, match="sends chunk 0 in step 0 and receives it later; only slots keep the two apart"):
        golden_trace(replace(lower(exchanges(2, 2, 2, 3, 2), 3000, MULTITREE), control=LOCKSTEP))


def test_a_message_through_an_endpoint_is_refused() -> None:
    far = tree_schedule("mesh:2x3,far", CollectiveKind.ALL_REDUCE, 2, delay=2, repeats=1, seed=3)
    with pytest.raises(NotPacedError, match=r"passes through node \d, whose interface does not see it at its ports"):
        golden_trace(replace(lower(far, 3000, MULTITREE), control=LOCKSTEP))


def test_constants_by_hand() -> None:
    """Messages of 33 flits in buffers of 318: nine full ones and the rest of a tenth can be left when a step begins."""
    sizes = sizes_of(trees(), Widths.of(trees()))
    assert (sizes["MESSAGE_FLITS"], sizes["SLOT_CYCLES"], sizes["NI_BUFFER_FLITS"], sizes["BOUNDARY"]) == (33, 33, 318, 0)
    assert [lane_queue(318, 33), lane_queue(318, 317), lane_queue(318, 318), lane_queue(0, 5)] == [10, 2, 2, 1]
    long = sizes_of(trees(size=200_000), Widths.of(trees(size=200_000)))
    assert long["SLOT_CYCLES"] == long["MESSAGE_FLITS"] - 318


def test_staging_by_hand() -> None:
    """One cycle, then sixteen for each of two lanes, is as long as a message of 33 flits, and longer than one of 32."""
    tables = trees()
    assert staged_chunk_bits(tables, 2, 16, 33) == 1
    assert 1 << staged_chunk_bits(tables, 2, 16, 32) >= most_waiting(tables) > 1 << staged_chunk_bits(tables, 2, 16, 32) - 1
    assert staged_chunk_bits(replace(tables, control=SLOTTED), 2, 16, 32) == 1


@pytest.mark.parametrize(("flits", "needed"), [(40, 26), (9, 26), (200, 3)])
def test_windows_by_hand(flits: int, needed: int) -> None:
    """26 rows of one lane that wait for nothing: 3 cycles to read each. With messages of 200 flits, one of which can be left, two
    fire at once, and the row behind them must be there; there are 200 cycles for the next one."""
    tables = trees(repeats=1)
    rows, count = slot_rows(tables), 26
    nothing = rows.slot[:1].repeat(count) * 0
    rows = replace(
        rows, node=nothing, slot=nothing + range(count), stage=nothing, wait_lines=nothing, lane=np.ones((count, 1), int)
    )
    queue = {40: 24, 9: 25, 200: 1}[flits]
    assert lockstep_rows(tables, rows, 1, queue, flits) == needed


def test_windows_that_would_be_too_large_have_no_interface(tmp_path: Path) -> None:
    tables = replace(trees(repeats=40), machine=MULTITREE)
    sizes = sizes_of(tables, Widths.of(tables))
    assert lockstep_rows(tables, sizes.rows, 2, MOST_LOCKSTEP_ROWS, 33) is None


def summed_up(members: tuple[int, ...], rows: str) -> Schedule:
    """A reduce among some nodes of a mesh into node 4."""
    return build("mesh:2x3", Collective(CollectiveKind.REDUCE, 4, members), rows, roots=[4])


def test_a_copy_that_a_sum_may_overtake_is_refused(tmp_path: Path) -> None:
    """Nodes 0 and 2 send into node 1, which sends on what it holds then: late, the copy of 0 would destroy the sum."""
    raced = summed_up((0, 2, 4), "0>1; 2+1; 1+4")
    with pytest.raises(UnsupportedError, match="only slots keep transfers of chunk 0 at node 1 in order"):
        ct.export(raced, "systemverilog", tmp_path / "t", size=3000, control=LOCKSTEP)
    assert not (tmp_path / "t").exists()


def test_iterations_whose_cells_count_several_arrivals_are_refused() -> None:
    summed = replace(summed_up((0, 1, 2, 4), "0+1 2+1; 1+4"), period=2, repeats=3)
    tables = replace(lower(summed, 3000, MULTITREE), control=LOCKSTEP)
    assert tables.repeats > tables.in_flight
    with pytest.raises(NotPacedError, match="iterations whose cells count several arrivals"):
        golden_trace(tables)


def test_lockstep_states_no_order_and_only_systemverilog_takes_it(tmp_path: Path) -> None:
    with pytest.raises(TableFormatError, match="additions are stated; with control lockstep tables have none"):
        replace(trees(), control=LOCKSTEP, additions="((0,1),(2,3))")
    export_tables(replace(trees(), control=LOCKSTEP), tmp_path / "t", "json")
    with pytest.raises(TableFormatError, match="control is stated; tables of format json describe no interface"):
        read_tables(tmp_path / "t")
