"""`python -m tests.packaging.wheel`: the wheel, in an environment of its own and away from the checkout, does what certree does.

The libraries there are the oldest that certree allows: the lower bound of each dependency, installed anew.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]
PACKAGES = ("models", "synth", "verify", "specs", "hw", "api", "cli", "extras")
NOT_SHIPPED = (".cpp", ".hpp", "CMakeLists.txt", "hw/core/README.md")

#: what the program is asked, and a line that its answer must have
COMMANDS = (
    ("--help", "Make schedules:"),
    ("list", "multitree"),
    ("list multitree", "Algorithm 1"),
    ("bound torus:4x4", "bandwidth"),
    ("synthesize torus:4x4 --size 64KiB -o schedule.json", "valid: all-reduce on torus:4x4"),
    ("verify schedule.json", "valid: all-reduce on torus:4x4"),
    ("certify schedule.json -o again.json", "valid: all-reduce on torus:4x4"),
    ("export schedule.json -o tables", "rows for 16 nodes"),
    ("verify tables", "made by tables"),
    ("simulate tables", "data: right at every rank"),
    ("export schedule.json --format systemverilog -o rtl", "rows for 16 nodes"),
    ("verify rtl", "made by tables"),
    ("bundle schedule.json --without-tla -o schedule.certree", "valid: bundle of all-reduce on torus:4x4"),
    ("verify schedule.certree", "as this certree writes it"),
    ("topology show torus:4x4 -o torus.svg", "16 endpoints"),
    ("draw schedule.json -o schedule.png", None),
    ("report schedule.json -o report.html", None),
    ("cost ring:4 --methods ring --size 1MB", "start-up"),
    ("endpoints ace-torus:2x2x2 --size 64KiB --system ace", "data: right at every rank"),
    ("aggregate switch:4,reducing=switches --size 64KiB", "data: right at every rank"),
    ("reproduce", "multitree-fig2"),
    ("reproduce multitree-fig2 -o figure", "agree with what the paper states"),
    ("model-check config MCAllReduce", None),
)
API = """
import sys
import certree.api as ct

schedule = ct.synthesize("torus:4x4", size="64KiB")
ct.save(schedule, "api.json")
assert ct.verify("api.json").valid
tables = ct.export("api.json", "readmemh", "api")
assert ct.verify(tables).valid and ct.verify("api").valid
run = ct.simulate(tables)
assert run.data_ok and run.cycles == run.closed_form_cycles, run
assert len(ct.schemas()) >= 5 and ct.bound("torus:4x4").bounds
ct.draw("torus:4x4", "api.svg")
ct.report(schedule, "api.html", published=False)
assert ct.compare("ring:4", sizes=["1KiB"], methods=["ring"]).cells
for name, module in sys.modules.items():
    file = getattr(module, "__file__", None)
    if name.partition(".")[0] == "certree" and file is not None:
        assert file.startswith(sys.prefix), f"{name} comes from {file}, not from the wheel"
print(f"{ct.__file__}: right")
"""


def build() -> Path:
    """The wheel, in build/wheel."""
    folder = ROOT / "build" / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("certree-*.whl")
    return wheel


def missing(wheel: Path) -> list[str]:
    """Files of the packages that git knows, modules and data, and the wheel lacks."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    with ZipFile(wheel) as file:
        shipped = set(file.namelist())
    return [name for name in listed if not name.endswith(NOT_SHIPPED) and f"certree/{name}" not in shipped]


def oldest() -> list[str]:
    """The dependencies of certree, each pinned to its lower bound."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [one.replace(">=", "==") for one in stated]


def install(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment that has the wheel and the oldest libraries."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel, *oldest()], check=True)
    return python.parent


def ask(shown: str, command: list[str | Path], folder: Path, answer: str | None) -> None:
    """Run a command away from the checkout; its output must have the answer. `shown`: what it is."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ended = subprocess.run(command, cwd=folder, env=outside, capture_output=True, text=True, check=False)
    if ended.returncode or (answer is not None and answer not in ended.stdout):
        sys.exit(f"{shown}: exit code {ended.returncode}, expected 0 and {answer!r}\n{ended.stdout}{ended.stderr}")
    print(f"{shown}: right")


def main() -> None:
    """Build, look into the wheel, install, ask."""
    wheel = build()
    if lacking := missing(wheel):
        sys.exit(f"{wheel.name} lacks {', '.join(lacking)}")
    with tempfile.TemporaryDirectory(prefix="certree-wheel-") as name:
        programs, work = install(wheel, Path(name) / "env"), Path(name) / "work"
        work.mkdir()
        for arguments, answer in COMMANDS:
            ask(f"certree {arguments}", [programs / "certree", *arguments.split()], work, answer)
        ask("certree.api", [programs / "python", "-c", API], work, f"{name}/env/lib")
    print(f"{wheel.name}: {len(COMMANDS) + 1} passed, 0 failed, with {', '.join(oldest())}")


if __name__ == "__main__":
    main()
