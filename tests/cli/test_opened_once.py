"""Each command opens a file that it reads once, and parses a JSON document once: for its kind and for what it holds."""

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from certree.models.common import files
from tests.cli.artefacts import schedule_file
from tests.cli.running import certree

CSV = "chunk,op,src,dst,step\n" + "".join(f"{c},copy,{c},{d},0\n" for c in range(3) for d in range(3) if c != d)
FOR_CSV = ("--topology", "ring:3", "--collective", "all-gather")
OUTPUT = {"export": "tables", "draw": "picture.svg", "report": "report.html", "import": "imported.json"}
COMMANDS = {  # by file the commands that take it
    "s.json": ("verify", "simulate", "draw", "export", "report"),
    "late.json": ("verify", "simulate", "draw", "export", "report"),
    "s.json.gz": ("verify", "simulate", "draw", "export", "report"),
    "s.npz": ("verify", "simulate", "draw", "export", "report"),
    "s.csv": ("verify",),
    "s.xml": ("verify", "import"),
    "plan.json": ("verify", "import"),
    "s.certree": ("verify", "simulate", "draw", "export"),
    "net.json": ("draw", "topology show"),
    "late-net.json": ("draw", "topology show"),
    "net.json.gz": ("draw", "topology show"),
    "net.graphml": ("draw", "topology show"),
}
COUNTED: Counter[str] = Counter()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files; the name of a `late` one begins with another key than its format."""
    folder = tmp_path_factory.mktemp("made")
    schedule = schedule_file(folder, "ring:3", "ring", size="1KiB")
    for name in ("s.json.gz", "s.npz"):
        schedule_file(folder, "ring:3", "ring", name, size="1KiB")
    for name in ("net.json", "net.json.gz", "net.graphml"):
        assert certree("topology", "convert", "ring:3", "-o", folder / name).code == 0
    for format, name in (("msccl-xml", "s.xml"), ("mscclpp", "plan.json")):
        assert certree("export", schedule, "--format", format, "-o", folder / name).code == 0
    assert certree("bundle", schedule, "-o", folder / "s.certree", "--without-tla").code == 0
    (folder / "s.csv").write_text(CSV)
    for name, late in (("s.json", "late.json"), ("net.json", "late-net.json")):
        document = json.loads((folder / name).read_text())
        (folder / late).write_text(json.dumps(dict(reversed(document.items()))))
    return folder


def _count(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        COUNTED[Path(str(arguments[0])).name] += 1


sys.addaudithook(_count)


@pytest.mark.parametrize(("name", "command"), [(name, command) for name, taken in COMMANDS.items() for command in taken])
def test_opened_and_parsed_once(name: str, command: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, parse = Counter[str](), files.parse_json

    def counting(data: bytes, where: str) -> object:
        parsed[where] += 1
        return parse(data, where)

    monkeypatch.setattr(files, "parse_json", counting)
    file = tmp_path / name
    shutil.copy(made / name, file)
    asked = FOR_CSV if name == "s.csv" else ("--topology", "ring:3") if command == "import" else ()
    output = ("-o", tmp_path / OUTPUT[command]) if command in OUTPUT else ()
    COUNTED.clear()
    outcome = certree(*command.split(), file, *asked, *output)
    assert outcome.code == 0, outcome.err
    assert COUNTED[name] == 1
    assert parsed[str(file)] == (".json" in name)
