"""`certree bundle`, and `verify` and `import` of what it writes."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile

import pytest

from certree.extras.bundles.model.archive import packed, unpacked
from tests.cli.artefacts import schedule_file, without_first_transfer
from tests.cli.running import assert_bad_input, certree, json_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """ring.json and its bundle, without TLC."""
    folder = tmp_path_factory.mktemp("bundles")
    schedule_file(folder, "ring:4", "ring", "ring.json", size="4KiB")
    assert certree("bundle", folder / "ring.json", "--without-tla", "-o", folder / "ring.certree").code == 0
    return folder


def forged(folder, name, change, target="forged.certree"):
    """A copy whose member was changed, with hashes that fit."""
    members = unpacked((folder / "ring.certree").read_bytes(), "f")
    document = json.loads(members[name])
    change(document)
    members[name] = (json.dumps(document, separators=(",", ":")) + "\n").encode()
    manifest = json.loads(members["bundle.json"])
    manifest["members"][name] = {"bytes": len(members[name]), "sha256": hashlib.sha256(members[name]).hexdigest()}
    members["bundle.json"] = (json.dumps(manifest, separators=(",", ":")) + "\n").encode()
    (folder / target).write_bytes(packed(members))
    return folder / target


def test_runs_without_routers(tmp_path):
    """Planned waits are kept there; what is stated of it is part of what is re-checked."""
    method = ("--method", "retime", "--option", "of=ring,bidirectional=true", "--option", "from=paced", "--size", "64KiB")
    assert certree("synthesize", "fattree:2x2", *method, "-o", tmp_path / "w.json").code == 0
    bundled = ("bundle", tmp_path / "w.json", "--without-tla", "-o", tmp_path / "ring.certree")
    absent = next(one for one in json_of(*bundled)["items"] if one["name"] == "runs")
    assert (absent["status"], "planned waits need links" in absent["text"]) == ("absent", True)
    items = json_of(*bundled, "--force", "--without-routers")["items"]
    ran = next(one for one in items if one["name"] == "runs: slotted")
    cycles = json_of("simulate", tmp_path / "w.json", "--without-routers")["cycles"]
    assert (ran["status"], ran["text"].startswith(f"{cycles:,} cycles")) == ("re-ran", True)
    assert ran["text"].endswith("fast engine, without routers, machine multitree")
    for value in (False, "yes", None):
        file = forged(tmp_path, "runs/slotted.json", lambda document, value=value: document.update(without_routers=value))
        found = certree("verify", file)
        assert (found.code, "planned waits need links" in found.out + found.err) in ((1, True), (2, True)), found


def test_words_and_document(folder):
    outcome = certree("verify", folder / "ring.certree")
    lines = outcome.out.splitlines()
    assert (outcome.code, lines[0]) == (0, "valid: bundle of all-reduce on ring:4")
    assert [line.split()[0] for line in lines[1:-1]] == [
        *("re-checked",) * 3, *("absent",) * 4, *("re-checked",) * 2, "re-ran", "re-checked", "absent", "re-checked", "trusted",
    ]  # fmt: skip
    assert lines[-1] == "  7 re-checked, 1 re-ran, 1 trusted, 5 absent"
    document = json_of("verify", folder / "ring.certree")
    assert (document["valid"], document["kind"], document["topology"], document["trust"]) == (True, "schedule", "ring:4", "hashes")
    assert document["bytes"] == (folder / "ring.certree").stat().st_size
    assert json_of("bundle", folder / "ring.json", "--without-tla", "-o", folder / "again.certree") == document
    assert (folder / "again.certree").read_bytes() == (folder / "ring.certree").read_bytes()


def test_wrong_evidence(folder):
    path = forged(folder, "runs/slotted.json", lambda document: document.update(cycles=1))
    outcome = certree("verify", path)
    assert outcome.code == 1
    assert "  failed      runs: slotted  states cycles = 1; the run has " in outcome.out
    document = json_of("verify", path, code=1)
    assert [one["rule"] for one in document["violations"]] == ["bundle-item"]
    report = folder / "report.xml"
    batch = certree("verify", path, folder / "ring.certree", "--junit", report, "--sarif", folder / "log.sarif", "--force")
    assert (batch.code, batch.out.splitlines()[-1]) == (1, "1 of 2 valid")
    assert 'type="bundle-item" message="runs: slotted: states cycles' in report.read_text()
    assert "an item of evidence in a bundle is wrong" in (folder / "log.sarif").read_text()
    refused = certree("import", path, "-o", folder / "refused.json")
    assert refused.code == 1
    assert not (folder / "refused.json").exists()


def test_import_gives_the_schedule_back(folder):
    assert certree("import", folder / "ring.certree", "-o", folder / "back.json").code == 0
    assert (folder / "back.json").read_bytes() == (folder / "ring.json").read_bytes()
    cycles = json_of("simulate", folder / "ring.certree")["cycles"]
    with zipfile.ZipFile(folder / "ring.certree") as archive:
        assert json.loads(archive.read("runs/slotted.json"))["cycles"] == cycles
        archive.extractall(folder / "out")
    assert json_of("simulate", folder / "out" / "tables")["cycles"] == cycles
    assert certree("verify", folder / "out" / "schedule.json").code == 0


def test_frontiers(folder):
    assert certree("frontier", "ring:3", "--max-chunks", "2", "-o", folder / "f.json").code == 0
    outcome = certree("bundle", folder / "f.json", "-o", folder / "f.certree")
    assert outcome.out.splitlines()[0] == "valid: bundle of all-reduce on ring:3, a frontier"
    assert certree("import", folder / "f.certree", "-o", folder / "f-back.json").code == 0
    assert (folder / "f-back.json").read_bytes() == (folder / "f.json").read_bytes()
    assert_bad_input(certree("import", folder / "f.certree", "-o", folder / "f.npz"), "the name of a frontier must end in .json")
    assert_bad_input(certree("simulate", folder / "f.certree"), "is a bundle of a frontier, not of a schedule")


def test_an_invalid_schedule_is_not_bundled(folder):
    outcome = certree("bundle", without_first_transfer(folder / "ring.json"), "-o", folder / "invalid.certree")
    assert outcome.code == 1
    assert outcome.out.startswith("invalid: all-reduce on ring:4")
    assert not (folder / "invalid.certree").exists()


def test_no_java(folder, monkeypatch):
    """Only TLC needs it: to make its results, and to run it again."""
    monkeypatch.setenv("JAVA_HOME", str(folder))
    outcome = certree("bundle", folder / "ring.json", "-o", folder / "java.certree")
    assert (outcome.code, outcome.out) == (69, "")
    assert not (folder / "java.certree").exists()
    assert certree("verify", folder / "ring.certree", "--trust", "none").code == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("bundle ring.json -o ring.certree", "exists; pass --force"),
        ("bundle ring.json -o ring.zip", "the name of a bundle must end in .certree"),
        ("bundle none.json -o n.certree", "cannot read none.json"),
        ("bundle ring.json --run fast -o n.certree", "'fast' is not one of"),
        ("bundle ring.json --format xml -o n.certree", "unknown table format 'xml'"),
        ("bundle ring.json --topology ring:5 -o n.certree", "which is not the network asked for"),
        ("verify ring.json --trust none", "trust is for bundles"),
        ("verify ring.certree ring.json --trust none", "--trust is for a single bundle"),
        ("verify ring.certree --size 1KiB", "a bundle states its size and machine; others do not apply"),
        ("verify ring.certree --collective all-gather", "the collective is all-reduce, not all-gather"),
        ("verify none.certree", "cannot read none.certree"),
        ("import none.certree -o s.json", "No such file"),
    ],
)
def test_bad_input(folder, monkeypatch, arguments, reason):
    monkeypatch.chdir(folder)
    assert_bad_input(certree(*arguments.split()), reason)
    assert not (folder / "n.certree").exists()


@pytest.mark.parametrize("command", ["verify", "import", "simulate"])
@pytest.mark.parametrize("fault", ["empty", "truncated", "altered", "outside", "link", "bomb", "twice", "other zip", "folder"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_damaged_and_hostile_files(folder, tmp_path, monkeypatch, command, fault):
    """One line, exit code 2, and no file but the one that was there."""
    data = (folder / "ring.certree").read_bytes()
    path = tmp_path / "inner" / "f.certree"
    path.parent.mkdir()
    if fault == "folder":
        path.mkdir()
    elif fault in ("outside", "link", "bomb", "twice", "other zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if fault == "bomb" else zipfile.ZIP_STORED) as archive:
            archive.writestr("bundle.json" if fault != "other zip" else "readme", b"{}")
            entry = zipfile.ZipInfo({"outside": "../../evil", "twice": "bundle.json"}.get(fault, "member"))
            entry.external_attr = (0o120777 if fault == "link" else 0o100644) << 16
            archive.writestr(entry, bytes(10**7) if fault == "bomb" else b"/etc/passwd")
    else:
        middle = len(data) // 2
        other = {"empty": b"", "truncated": data[:-30], "altered": data[:middle] + b"#" + data[middle + 1 :]}
        path.write_bytes(other[fault])
    monkeypatch.chdir(path.parent)
    before = sorted(tmp_path.rglob("*"))
    outcome = certree(command, path.name, *(["-o", "out.json"] if command == "import" else []))
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_no_solver_is_loaded(folder):
    """No module that searches is loaded either: the checker decides alone."""
    code = (
        "import sys; from certree.cli.main import run; code = run(['verify', sys.argv[1]]);"
        "assert not {'ortools', 'z3', 'pysat', 'networkx'} & set(sys.modules); sys.exit(code)"
    )
    ended = subprocess.run([sys.executable, "-c", code, folder / "ring.certree"], capture_output=True, text=True, check=False,
                           env=os.environ | {"JAVA_HOME": str(folder)})  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
