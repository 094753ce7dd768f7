"""`python -m tests.packaging.wheel`: the wheel, in an environment of its own and away from the checkout, does what certree does.

The libraries there are the oldest that certree allows: the lower bound of each dependency, installed anew. The optional ones,
for plots, z3 and data frames, come second: the commands work without them first, and the environment is then at most MOST_MIB
large.
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

from tools.checkout import ROOT, tracked

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
    ("report schedule.json -o report.html", None),
    ("cost ring:4 --methods ring --size 1MB", "start-up"),
    ("endpoints ace-torus:2x2x2 --size 64KiB --system ace", "data: right at every rank"),
    ("aggregate switch:4,reducing=switches --size 64KiB", "data: right at every rank"),
    ("reproduce", "multitree-fig2"),
    ("reproduce multitree-fig2 -o figure", "agree with what the paper states"),
    ("model-check config MCAllReduce", None),
)
OPTIONAL = ("plots", "smt", "frames")
#: what needs one of these: asked before, when it must name what to install, and after
WITH_OPTIONAL = (
    ("draw schedule.json -o schedule.png", "pip install 'certree[plots]'"),
    ("synthesize mesh:2x2 --method exact --option solver=z3 --size 8KiB -o by-z3.json", "pip install 'certree[smt]'"),
)
#: what needs the third, asked of the Python API
FRAMES = (
    "import certree.api as ct; ring = ct.synthesize('ring:3', method='ring');"
    " print(ct.from_dataframe(ring.to_dataframe(), 'ring:3').digest == ring.digest)"
)
MOST_MIB = 320
MISSING = 69
INSTALLED = ROOT / "tests" / "packaging" / "installed.py"


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
    listed = map(str, tracked(*PACKAGES))
    with ZipFile(wheel) as file:
        shipped = set(file.namelist())
    return [name for name in listed if not name.endswith(NOT_SHIPPED) and f"certree/{name}" not in shipped]


def oldest(*options: str) -> list[str]:
    """The dependencies of certree, or those of some of its options, each pinned to its lower bound."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [one for option in options for one in stated["optional-dependencies"][option]] if options else stated["dependencies"]
    return [one.replace(">=", "==") for one in names]


def install(folder: Path, *what: str | Path) -> Path:
    """The programs of an environment, made where there is none, with something more in it."""
    if not folder.exists():
        venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *what], check=True)
    return python.parent


def mebibytes(folder: Path) -> int:
    """What the files of a folder take, rounded up."""
    return -(-sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) // 2**20)


def ask(shown: str, command: list[str | Path], folder: Path, answer: str | None, code: int = 0) -> None:
    """Run a command away from the checkout; its output must have the answer. `shown`: what it is."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ended = subprocess.run(command, cwd=folder, env=outside, capture_output=True, text=True, check=False)
    if ended.returncode != code or (answer is not None and answer not in (ended.stderr if code else ended.stdout)):
        sys.exit(f"{shown}: exit code {ended.returncode}, expected {code} and {answer!r}\n{ended.stdout}{ended.stderr}")
    print(f"{shown}: right")


def main() -> None:
    """Build, look into the wheel, install, ask."""
    wheel = build()
    if lacking := missing(wheel):
        sys.exit(f"{wheel.name} lacks {', '.join(lacking)}")
    with tempfile.TemporaryDirectory(prefix="certree-wheel-") as name:
        env, work = Path(name) / "env", Path(name) / "work"
        programs = install(env, wheel, *oldest())
        if (size := mebibytes(env)) > MOST_MIB:
            sys.exit(f"certree and what it needs take {size} MiB; at most {MOST_MIB}")
        work.mkdir()
        certree = programs / "certree"
        for words, answer in COMMANDS:
            ask(f"certree {words}", [certree, *words.split()], work, answer)
        for words, answer in WITH_OPTIONAL:
            ask(f"without an option, certree {words}", [certree, *words.split()], work, answer, MISSING)
        ask("certree.api", [programs / "python", INSTALLED], work, f"{name}/env/lib")
        install(env, *oldest(*OPTIONAL))
        for words, _ in WITH_OPTIONAL:
            ask(f"certree {words}", [certree, *words.split()], work, None)
        ask("data frames", [programs / "python", "-c", FRAMES], work, "True")
    passed = len(COMMANDS) + 2 * len(WITH_OPTIONAL) + 2
    print(f"{wheel.name}: {passed} passed, 0 failed, {size} MiB, with {', '.join(oldest() + oldest(*OPTIONAL))}")


if __name__ == "__main__":
    main()
