"""Plug-ins: the example installed, a faulty one switched off, and faults that the conformance suite finds."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from certree.extras.algorithms.check.conformance import conformance, load_everything, main
from certree.models.common.registry import entries_since, entries_so_far

Suite: TypeAlias = Callable[[str], tuple[object, str]]

ROOT = Path(__file__).parents[3]
HEAD = "import certree.api as ct\n"


def installed(folder: Path, name: str, *points: tuple[str, str, str], **modules: str) -> None:
    """A distribution in a folder: its modules, and entry points (group, name, module)."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("".join(f"[{group}]\n{one} = {module}\n" for group, one, module in points))
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)


def certree(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, with the distributions of a folder installed."""
    command = [sys.executable, "-c", "from certree.cli.main import main; main()", *arguments]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_the_example_is_installed_and_conforms(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"]
    source = tmp_path / "source"
    subprocess.run(["cp", "-r", str(ROOT / "examples" / "plugin"), str(source)], check=True)
    folder = tmp_path / "site"
    subprocess.run([*pip, "--target", str(folder), str(source)], check=True, capture_output=True)
    shown = certree(folder, "list", "star")
    assert "All vectors to one server" in shown.stdout, shown.stderr
    made = certree(folder, "synthesize", "wheel:5", "--method", "star", "--option", "server=5", "--size", "1KiB")
    assert made.stdout.startswith("valid: all-reduce on wheel:5, made by star"), made.stderr
    for place in (folder, ROOT / "examples" / "plugin"):  # as installed, then as it is written
        suite = subprocess.run(
            [sys.executable, "-m", "certree.conformance", "certree_star"],
            env=os.environ | {"PYTHONPATH": str(place)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (suite.returncode, suite.stdout) == (0, "method star: conforms\ntopology family wheel: conforms\n"), suite.stderr


FAULTY_PLUG_IN = """
from certree.models.network.families import FAMILIES
from certree.verify.rule import RULES, check

@FAMILIES.register("of-a-fault", "of-a-fault:2")
def build(arguments):
    "of-a-fault:N - nothing."

@FAMILIES.register("ring", "ring:2")
def ring(arguments):
    "ring:N - shadows."
"""


def test_a_faulty_plug_in_is_named_and_switched_off(tmp_path: Path) -> None:
    installed(
        tmp_path,
        "faulty",
        ("certree.topologies", "shadow", "shadow"),
        ("certree.methods", "broken", "broken"),
        ("certree.rules", "missing", "no_such_module"),
        shadow=FAULTY_PLUG_IN,
        broken="raise ValueError('two\\nlines')",
    )
    shown = certree(tmp_path, "topology", "show", "ring:4")
    assert (shown.returncode, shown.stdout.splitlines()[0]) == (0, "ring:4: 4 endpoints (direct), 8 links (full duplex)")
    assert (
        "warning: plug-in shadow of faulty 1.0 (certree.topologies) is switched off: ValueError: two topology family"
        in shown.stderr
    )
    assert certree(tmp_path, "topology", "show", "of-a-fault:2").returncode == 2
    made = certree(tmp_path, "synthesize", "ring:4", "--method", "ring", "--size", "1KiB")
    assert made.stdout.startswith("valid: ")
    assert "plug-in broken of faulty 1.0 (certree.methods) is switched off: ValueError: two\n" in made.stderr
    assert "plug-in missing of faulty 1.0 (certree.rules) is switched off: ModuleNotFoundError" in made.stderr


METHOD = '@ct.method("planted", collectives=["{kind}"])\ndef planted(net, *, root=None, **_):\n    "Planted."\n    {body}\n'
STAR = "rest = b.ranks[1:]; b.reduce(chunk=0, src=rest, dst=b.ranks[0]); b.copy(chunk=0, src=b.ranks[0], dst=rest)"
FAMILY = """
import random
import numpy as np
from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.common.errors import TopologyError

@FAMILIES.register("planted"{examples})
def planted(arguments):
    "planted:N - a line of N nodes."
    {check}
    cables = Cables({name}, {nodes})
    cables.join(np.arange({links}), np.arange({links}) + 1)
    return cables.build()
"""
IMPORTER = """
from certree.models.network.network_files import NetworkFormat, network_format
import certree.api as ct

@network_format("planted")
class Planted(NetworkFormat):
    "Planted."
    suffixes = (".planted",)
    def matches(self, start):
        return {matches}
    def read(self, file, options):
        {read}
    def written(self, topology):
        return {written}
"""
READS = """if file.data() != b"planted":
            raise ct.InputError(f"{file}: allowed: the word planted")
        return ct.topology("mesh:2x3")"""
RULE = """
from certree.verify.rule import Subject, check, rule

@rule("planted", "{meaning}", "{example}")
@check(Subject.SCHEDULES)
def planted(schedule, findings):
    {body}
"""


def method(body: str, kind: str = "all-reduce") -> str:
    return HEAD + "import random\n" + METHOD.format(kind=kind, body=body)


def family(**changed: str) -> str:
    right = {
        "examples": ', "planted:4"',
        "check": 'if not arguments.isdigit(): raise TopologyError("planted: allowed: a number")',
        "name": 'f"planted:{arguments}"',
        "nodes": "int(arguments)",
        "links": "int(arguments) - 1",
    }
    return FAMILY.format(**right | changed)


def importer(**changed: str) -> str:
    right = {"matches": 'start.startswith(b"planted")', "read": 'return ct.topology("mesh:2x3")', "written": 'b"planted"'}
    return IMPORTER.format(**right | changed)


#: name -> (a module with one fault, words of the suite)
PLANTED = {
    "raises": (method("return 1 // 0"), "raised ZeroDivisionError"),
    "nothing": (method("return None"), "returned NoneType; allowed: a Schedule"),
    "text": (method("return 'schedule'"), "returned str; allowed: a Schedule"),
    "other-network": (method(f"b = ct.Builder('ring:7'); {STAR}; return b.schedule()"), "returned all-reduce on ring:7"),
    "other-collective": (
        method("b = ct.Builder(net, 'broadcast', root=0); b.copy(0, 0, b.ranks[1:]); return b.schedule()"),
        "asked for was all-reduce",
    ),
    "invalid": (method(f"b = ct.Builder(net); {STAR}; b._rows._blocks.pop(); return b.schedule()"), "the schedule is invalid"),
    "unchecked": (method("b = ct.Builder(net); b.reduce(0, b.ranks[1:], 0); return b.unchecked()"), "all-reduce on ring:4: "),
    "random": (
        method(
            "b = ct.Builder(net); planted.n = getattr(planted, 'n', 0) + 1; "
            "b.reduce(0, b.ranks[1:], 0, step=planted.n); b.copy(0, 0, b.ranks[1:], step=planted.n + 1); return b.schedule()"
        ),
        "two calls gave two schedules",
    ),
    "never": (method("raise ct.UnsupportedError('not today')"), "no schedule on any of"),
    "input-error": (method("raise ct.InputError('wrong')"), "planted: wrong"),
    "exits": (method("raise KeyError('a')"), "raised KeyError"),
    "no-example": (family(examples=""), "no example"),
    "other-name": (family(name="'line'"), "its name is 'line'"),
    "raising-family": (family(check=""), "raised ValueError"),
    "disconnected": (family(links="int(arguments) - 2"), "planted:4: "),
    "changing": (
        family(
            nodes="int(arguments) + (planted.__dict__.setdefault('n', []).append(0) or len(planted.n))",
            links="int(arguments) - 1 + len(planted.n)",
        ),
        "two calls gave two networks",
    ),
    "takes-all": (importer(matches="True"), "takes b''"),
    "other-file": (importer(read='return ct.topology("ring:6")'), "is not read back"),
    "half-file": (importer(read='return ct.topology("mesh:2x3")', matches='start.startswith(b"pla")'), "half of a file: taken"),
    "raising-reader": (importer(read="return 1 // 0"), "is not read back"),
    "no-meaning": (RULE.format(meaning=" ", example="x", body="pass"), "no meaning"),
    "refuses-all": (RULE.format(meaning="m", example="e", body='findings.add("planted", 0, (), "no")'), "ring on ring:4: raised "),
}


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Suite]:
    """The exit code and the output of the suite for a module with this text, which is forgotten afterwards."""
    load_everything()  # what certree itself registers stays
    module, before = f"planted_{tmp_path.name}", entries_so_far()
    monkeypatch.syspath_prepend(tmp_path)

    def run(text: str) -> tuple[object, str]:
        (tmp_path / f"{module}.py").write_text(text)
        with pytest.raises(SystemExit) as ended:
            main([module])
        return ended.value.code, capsys.readouterr().out

    yield run
    for registry, name in entries_since(before):
        registry.discard(name)
    sys.modules.pop(module, None)


@pytest.mark.parametrize("name", PLANTED)
def test_the_suite_finds_a_planted_fault(name: str, suite: Suite) -> None:
    text, words = PLANTED[name]
    code, shown = suite(text)
    assert code == 1
    assert words in shown


@pytest.mark.parametrize("text", [family(), importer(read=READS)])
def test_the_modules_without_the_faults_conform(text: str, suite: Suite) -> None:
    code, shown = suite(text)
    assert (code, shown.endswith(": conforms\n")) == (0, True), shown


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"], ["no_such_module"], ["json"]])
def test_what_cannot_be_checked_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_module_that_registers_nothing() -> None:
    with pytest.raises(ValueError, match="json registers nothing"):
        conformance("json")
