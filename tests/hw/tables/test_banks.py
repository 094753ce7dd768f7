"""Images with an epoch and a CRC-32, and runs in which the tables of one epoch take over from those of the one before."""

import json
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from certree.hw.engines.runs import Options
from certree.hw.formats.banks import HEADER_BITS
from certree.hw.run import run
from certree.hw.switching import Switched, boundary, run_switched
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.hw.tables.manifest import file_entry
from certree.models.common.errors import InputError, TableFormatError
from certree.models.machine.clocks import parse_clocks
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables
from tests.hw.counted import exchanges
from tests.hw.engines.reference import ReferenceMachine
from tests.hw.made import made
from tests.hw.tables.test_forged_tables import remanifest, rewrite
from tests.hw.trees import MULTITREE, tree_schedule


def of_epoch(epoch: int | None, method: str = "multitree", size: int = 3000) -> Tables:
    return replace(lower(made(method, "mesh:2x2", size), size, MULTITREE), epoch=epoch)


OLD, NEW = of_epoch(5), of_epoch(6, "packing", 5000)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    export_tables(OLD, tmp_path / "t")
    export_tables(replace(NEW, epoch=5), tmp_path / "other")
    export_tables(replace(OLD, epoch=6), tmp_path / "next")
    return tmp_path / "t"


def seal(directory: Path, *names: str) -> None:
    """Put the sizes and checksums of files into the manifest, as one who mixes images would."""
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["files"] |= {name: file_entry((directory / name).read_bytes()) for name in names}
    (directory / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("encoding", ["readmemh", "json"])
@pytest.mark.parametrize(
    "tables", [OLD, replace(lower(exchanges(2, 1, 1, 0, 1), 64, MULTITREE), epoch=0)], ids=["trees", "buffers"]
)
def test_what_is_exported_is_read_back(tables: Tables, encoding: str, tmp_path: Path) -> None:
    export_tables(tables, tmp_path / "t", encoding)
    back = read_tables(tmp_path / "t")
    assert (back.epoch, back.profile, back.schedule.digest) == (tables.epoch, tables.profile, tables.schedule_digest)
    assert verify_tables(back).valid
    assert run(back).cycles == run(replace(tables, epoch=None)).cycles == run(back).closed_form_cycles
    assert json.loads((tmp_path / "t" / "manifest.json").read_text())["version"] == 2


def test_a_header_by_hand(exported: Path) -> None:
    """16 bits of epoch, 32 of each number of lines, and the CRC-32 of these and of all lines as whole bytes."""
    rows, arrivals = ((exported / f"{name}_0002.hex").read_text().split() for name in ("node", "arrivals"))
    image = (5).to_bytes(2, "big") + len(rows).to_bytes(4, "big") + len(arrivals).to_bytes(4, "big") + bytes(4)
    for line in (*rows, *arrivals):
        image += int(line, 16).to_bytes((len(line) + 1) // 2, "big")
    line = f"0005{len(rows):08x}{len(arrivals):08x}{0:08x}{zlib.crc32(image):08x}\n"
    assert (exported / "bank_0002.hex").read_text() == line
    assert (len(line) - 1) * 4 == HEADER_BITS == 144


def flip(directory: Path, name: str, digit: int) -> None:
    """One bit of one hex digit."""
    rewrite(directory, name, lambda text: f"{text[:digit]}{int(text[digit], 16) ^ 1:x}{text[digit + 1 :]}", seal=False)


def take(directory: Path, source: str, node: int, *kinds: str) -> None:
    """The images of a node from another export, with a manifest made to fit."""
    names = [f"{kind}_{node:04d}.hex" for kind in kinds]
    for name in names:
        shutil.copy(directory.parent / source / name, directory / name)
    seal(directory, *names)


def without_headers(directory: Path) -> None:
    manifest = json.loads((directory / "manifest.json").read_text())
    for path in directory.glob("bank_*.hex"):
        path.unlink()
        del manifest["files"][path.name]
    (directory / "manifest.json").write_text(json.dumps(manifest))


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a bit of a row": (lambda d: flip(d, "node_0002.hex", 3), r"node_0002.hex: crc32 is \w{8}; the manifest has"),
    "a bit of an arrival": (lambda d: flip(d, "arrivals_0001.hex", 0), "arrivals_0001.hex: crc32"),
    "a bit of a header": (lambda d: flip(d, "bank_0003.hex", 35), "bank_0003.hex: crc32"),
    "a bit of a row, manifest too": (
        lambda d: (flip(d, "node_0002.hex", 1), seal(d, "node_0002.hex")),
        r"bank_0002.hex: crc of node 2 is \w{8}; the image of node 2 has \w{8}",
    ),
    "a bit of the crc, manifest too": (
        lambda d: (flip(d, "bank_0003.hex", 35), seal(d, "bank_0003.hex")),
        "bank_0003.hex: crc of node 3 is",
    ),
    "a number of rows, manifest too": (
        lambda d: (flip(d, "bank_0003.hex", 11), seal(d, "bank_0003.hex")),
        r"bank_0003.hex: rows of node 3 is \d+; the image of node 3 has \d+",
    ),
    "no header": (
        lambda d: rewrite(d, "bank_0001.hex", lambda text: text[1:], seal=True),
        "bank_0001.hex: a header is one line of 36 hex digits",
    ),
    "no headers": (without_headers, "the manifest states epoch 5; the images have no headers"),
    "the whole image of the next epoch": (
        lambda d: take(d, "next", 1, "node", "arrivals", "bank"),
        "bank_0001.hex: epoch of node 1 is 6; the manifest states epoch 5",
    ),
    "the rows of another export": (
        lambda d: take(d, "other", 1, "node"),
        "is not|bank_0001.hex: (rows|crc) of node 1 is",
    ),
    "the manifest of another epoch": (lambda d: remanifest(d, epoch=6), "epoch of node 0 is 5; the manifest states epoch 6"),
    "an epoch out of range": (lambda d: remanifest(d, epoch=1 << 16), "epoch is 65536; allowed: whole numbers from 0 to 65535"),
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_damaged_and_mixed_images_are_refused(exported: Path, fault: str) -> None:
    change, reason = DAMAGED[fault]
    change(exported)
    with pytest.raises(TableFormatError, match=reason):
        read_tables(exported)


@pytest.mark.parametrize(
    ("epochs", "reason"),
    [
        ([[0, 5], [1, 6], [2, 5], [3, 5]], "the tables: epoch of node 1 is 6; the manifest states epoch 5"),
        (None, "the manifest states epoch 5; the images have no headers"),
        ([[0, 5], [2, 5], [1, 5], [3, 5]], "table.json: epochs must be a list of pairs"),
        ([[0, 5], [1, 5], [2, -1], [3, 5]], r"table.json: epoch of node 2 is \[-1\]; allowed: a whole number from 0 to 65535"),
    ],
)
def test_mixed_tables_in_json_are_refused(tmp_path: Path, epochs: object, reason: str) -> None:
    export_tables(OLD, tmp_path / "t", "json")
    document = json.loads((tmp_path / "t/table.json").read_text())
    assert document.pop("epochs") == [[0, 5], [1, 5], [2, 5], [3, 5]]
    (tmp_path / "t/table.json").write_text(json.dumps(document | ({} if epochs is None else {"epochs": epochs})))
    seal(tmp_path / "t", "table.json")
    with pytest.raises(TableFormatError, match=reason):
        read_tables(tmp_path / "t")


def test_version_2_of_trees_has_an_epoch(exported: Path) -> None:
    manifest = json.loads((exported / "manifest.json").read_text())
    del manifest["epoch"]
    (exported / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TableFormatError, match="profile is trees in version 2, without an epoch"):
        read_tables(exported)


def switched(before: Tables = OLD, after: Tables = NEW, **options: object) -> Switched:
    return run_switched(before, after, Options(without_routers=True, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["fast", "lanes"])
def test_new_tables_take_over(engine: str) -> None:
    """No reset: the second run begins in the slot behind the last landing, and both end with right sums and no late row."""
    result, alone = switched(engine=engine), [run(tables) for tables in (OLD, NEW)]
    assert result.opens == boundary(OLD) * OLD.slot_cycles + MULTITREE.ni_start_cycles
    assert result.opens >= result.before.cycles == alone[0].cycles
    assert result.cycles == result.opens + alone[1].cycles - MULTITREE.ni_start_cycles
    assert (result.data_ok, result.mixed, result.before.late, result.after.late) == (True, (), 0, 0)


def test_iterations_before_and_after() -> None:
    """Three iterations of each, which overlap among themselves; 0 follows the last epoch."""
    trees = tree_schedule("mesh:2x3", CollectiveKind.ALL_REDUCE, 3, delay=2, repeats=3, seed=7)
    many = [replace(lower(trees, size, MULTITREE), epoch=epoch) for size, epoch in ((900, 65_535), (500, 0))]
    result = switched(*many)
    assert (result.data_ok, result.mixed) == (True, ())
    reference = ReferenceMachine(many[0]).run()
    assert reference.data_ok
    assert result.opens >= reference.cycles == result.before.cycles


def test_the_boundary_is_the_first_slot_that_is_free() -> None:
    """A slot earlier, messages of the old epoch are still to count: the earliest boundary is not too late either."""
    assert (boundary(OLD) - 1) * OLD.slot_cycles < run(OLD).cycles <= boundary(OLD) * OLD.slot_cycles


def test_a_late_clock_mixes_epochs() -> None:
    """What one interface sends so late that others have switched is reported, by node, peer and cycle."""
    small = switched(clocks=parse_clocks(4, "3=20", None))
    assert (small.mixed, small.after.data_ok) == ((), True)
    result = switched(clocks=parse_clocks(4, "3=5000", None))
    assert not result.data_ok
    assert any("gets a message of epoch 5 from node 3 in cycle" in line for line in result.mixed)
    ahead = switched(clocks=parse_clocks(4, "0=5000,1=5000,2=5000", None))  # node 3 switches 5000 cycles before the others
    assert any("gets a message of epoch 6 from node 3" in line and "opens the new tables only" in line for line in ahead.mixed)


def test_a_switch_that_is_too_early_mixes_epochs() -> None:
    """Tables that state a shorter delay than they need would switch while messages are in flight."""
    result = switched(replace(OLD, delay=1, slot_cycles=OLD.slot_cycles // 3))
    assert result.before.late
    assert result.mixed[0].startswith("messages of epoch 5 count until cycle")
    assert not result.data_ok


@pytest.mark.parametrize(
    ("before", "after", "options", "reason"),
    [
        (OLD, replace(NEW, epoch=7), {}, "epoch 7 does not follow epoch 5; allowed: 6"),
        (OLD, OLD, {}, "epoch 5 does not follow epoch 5"),
        (replace(OLD, epoch=None), NEW, {}, "the first tables state no epoch; export them with --epoch"),
        (OLD, replace(NEW, epoch=None), {}, "the second tables state no epoch"),
        (OLD, replace(NEW, machine=replace(MULTITREE, router_cycles=2)), {}, "the second tables are for another machine"),
        (OLD, replace(lower(made("multitree", "ring:4", 3000), 3000, MULTITREE), epoch=6), {}, "for another network"),
        (OLD, NEW, {"mode": "paced"}, "a paced run has no slot in which tables could switch"),
        (OLD, NEW, {"trace": Path("t")}, "trace: not for a run that switches tables"),
    ],
)
def test_what_cannot_take_over(before: Tables, after: Tables, options: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        switched(before, after, **options)


def test_without_an_epoch_nothing_changes(tmp_path: Path) -> None:
    export_tables(replace(OLD, epoch=None), tmp_path / "t")
    assert not list((tmp_path / "t").glob("bank_*"))
    assert read_tables(tmp_path / "t").profile is Profile.TREES
