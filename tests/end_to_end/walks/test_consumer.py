"""The project in `examples/consumer`: its check passes, fails when a cable is removed, and passes when schedules are made anew."""

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

PROJECT = Path(__file__).parents[3] / "examples" / "consumer"
COMMAND = Path(sys.executable).with_name("certree")


#: one of its schedules, so that the test is short
ONE = "schedules/all-reduce.json"


def project(folder: Path) -> Path:
    """A copy with one schedule."""
    copy = folder / "consumer"
    shutil.copytree(PROJECT, copy)
    for file in copy.glob("schedules/*.json"):
        if file != copy / ONE:
            file.unlink()
    return copy


def make(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    command = ["make", target, f"CERTREE={COMMAND}", f"PYTHON={sys.executable}", f"SCHEDULES={ONE}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def failures(folder: Path) -> list[str]:
    return [failure.attrib["type"] for failure in ElementTree.parse(folder / "report.xml").iter("failure")]


def test_all_schedules_pass(tmp_path: Path) -> None:
    names = sorted(file.name for file in PROJECT.glob("schedules/*.json"))
    assert names == ["all-gather.json", "all-reduce.json", "all-to-all.json"]
    folder = tmp_path / "consumer"
    shutil.copytree(PROJECT, folder)
    command = ["make", f"CERTREE={COMMAND}", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 valid" in done.stdout


def test_a_removed_cable_fails_until_schedules_are_made_anew(tmp_path: Path) -> None:
    folder = project(tmp_path)
    passed = make(folder, "check")
    assert (passed.returncode, failures(folder)) == (0, []), passed.stdout + passed.stderr
    network = folder / "fabric.csv"
    network.write_text("".join(line for line in network.read_text().splitlines(True) if not line.startswith("gpu3,gpu7")))
    failed = make(folder, "check")
    assert failed.returncode != 0
    assert failures(folder) == ["topology"]
    made = make(folder, "schedules")
    assert made.returncode == 0, made.stderr
    again = make(folder, "check")
    assert (again.returncode, failures(folder)) == (0, []), again.stdout + again.stderr


def test_a_slow_schedule_fails(tmp_path: Path) -> None:
    folder = project(tmp_path)
    ring = ["synthesize", "fabric.csv", "--method", "ring", "--size", "16MiB", "--force", "-o", ONE]
    subprocess.run([COMMAND, *ring], cwd=folder, check=True, capture_output=True)
    failed = make(folder, "check")
    assert failed.returncode != 0
    assert failures(folder) == []
    assert f"{ONE}: 3.353 times the time bound; allowed: 1.1" in failed.stdout
