"""`certree export --epoch` and `certree simulate --then`: new tables take over from old ones, or are refused in one line."""

import shutil
from pathlib import Path

import pytest

from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree, json_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of epochs 1 and 2, and some without an epoch."""
    path = tmp_path_factory.mktemp("switch")
    file = schedule_file(path, "ring:4", "multitree")
    for epoch in (1, 2):
        report = json_of("export", file, "--size", "4KiB", "--epoch", epoch, "-o", path / f"epoch{epoch}")
        assert (report["epoch"], report["header_bits"]) == (epoch, 144)
    assert "epoch" not in json_of("export", file, "--size", "4KiB", "-o", path / "none")
    return path


def test_new_tables_take_over(folder: Path) -> None:
    one = json_of("simulate", folder / "epoch1")
    both = json_of("simulate", folder / "epoch1", "--then", folder / "epoch2")
    assert {name: both[name] for name in one if name != "flow"} == {name: one[name] for name in one if name != "flow"}
    switched = both["switched"]
    assert (switched["epoch"], switched["data_ok"], switched["mixed"]) == (2, True, [])
    assert switched["cycles"] == switched["opens"] + switched["then"]["cycles"] >= 2 * one["cycles"]
    words = certree("simulate", folder / "epoch1", "--then", folder / "epoch2")
    assert words.code == 0
    assert words.out.rstrip().splitlines()[-1].startswith("new tables, epoch 2, open in cycle ")


def test_mixed_epochs_are_an_error(folder: Path) -> None:
    outcome = certree("simulate", folder / "epoch1", "--then", folder / "epoch2", "--skew", "2=5000")
    assert outcome.code == 1
    assert "mixed epochs: node 1 gets a message of epoch 1 from node 2 in cycle" in outcome.out


def test_images_of_two_exports_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "epoch1", tmp_path / "t")
    for kind in ("node", "arrivals", "bank"):
        shutil.copy(folder / "epoch2" / f"{kind}_0003.hex", tmp_path / "t" / f"{kind}_0003.hex")
    for command in ("verify", "simulate"):
        assert_bad_input(certree(command, tmp_path / "t"), "bank_0003.hex: crc32 is ")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("epoch2", "--then", "epoch1"), "epoch 1 does not follow epoch 2; allowed: 3"),
        (("epoch1", "--then", "none"), "the second tables state no epoch; export them with --epoch"),
        (("epoch1", "--then", "missing"), "missing is not a tables directory; --then is for two of them, exported with --epoch"),
        (("epoch1", "--then", "epoch2", "--trace", "t.ndjson"), "--trace: not with --then; allowed: --engine, --without-routers"),
        (("epoch1", "--then", "epoch2", "--run", "paced"), "--run: not with --then"),
    ],
)
def test_what_cannot_take_over(folder: Path, options: tuple[str, ...], reason: str) -> None:
    words = [folder / word if word in ("epoch1", "epoch2", "none", "missing") else word for word in options]
    assert_bad_input(certree("simulate", *words), reason)
