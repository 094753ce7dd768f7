"""Programs of communication runtimes on the command line."""

import json
from pathlib import Path

import pytest

from certree.extras.runtimes.programs import export_program
from certree.models.common.errors import InputError
from tests.cli.running import certree, json_of
from tests.extras.runtimes.check.foreign import all_pairs, ring


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    assert certree("synthesize", "ring:4", "--method", "ring", "--size", "1MiB", "-o", folder / "s.json").code == 0
    assert certree("export", folder / "s.json", "--format", "msccl-xml", "-o", folder / "s.xml").code == 0
    assert certree("export", folder / "s.json", "--format", "mscclpp", "-o", folder / "p.json").code == 0
    assert certree("export", folder / "s.json", "--format", "chakra", "--size", "2MiB", "-o", folder / "traces").code == 0
    (folder / "all-pairs.xml").write_text(all_pairs(3))
    return folder


def test_export_verify_import(made: Path, tmp_path: Path) -> None:
    document = json_of("verify", made / "s.xml")
    assert (document["valid"], document["ranks"], document["collective"]) == (True, 4, "all-reduce")
    timed = json_of("verify", made / "s.xml", "--topology", "ring:4", "--size", "1MiB")
    assert (timed["steps"], timed["method"], timed["message_bytes"]) == (6, "msccl-xml", 1 << 20)
    assert timed["time_cycles"] >= timed["time_bound_cycles"]
    assert certree("import", made / "s.xml", "--topology", "ring:4", "-o", tmp_path / "back.json").code == 0
    assert json_of("verify", tmp_path / "back.json")["bandwidth_time"] == "3/2"


@pytest.mark.parametrize(
    ("network", "method", "says"), [("full:4", "retime", True), ("mesh:3x3", "packing", True), ("full:4", "ring", False)]
)
def test_export_says_that_a_program_has_no_times(tmp_path: Path, network: str, method: str, says: bool) -> None:
    schedule, program = tmp_path / "s.json", tmp_path / "p.xml"
    assert certree("synthesize", network, "--method", method, "--size", "256KiB", "-o", schedule).code == 0
    done = certree("export", schedule, "--format", "msccl-xml", "-o", program)
    assert done.code == 0
    assert (f"certree import {program} --topology {network} -o P.json makes a schedule of that order" in done.err) == says


@pytest.mark.parametrize(("name", "kind"), [("p.json", "mscclpp"), ("traces", "chakra"), ("traces/algorithm.2.et", "chakra")])
def test_plans_and_traces(made: Path, tmp_path: Path, name: str, kind: str) -> None:
    document = json_of("verify", made / name)
    assert (document["valid"], document["kind"], document["ranks"]) == (True, kind, 4)
    assert certree("import", made / name, "--topology", "ring:4", "-o", tmp_path / "back.json").code == 0
    assert json_of("verify", tmp_path / "back.json")["bandwidth_time"] == "3/2"


def test_ranges_of_sizes(made: Path, tmp_path: Path) -> None:
    for name, kind, expected in (("a.xml", "msccl-xml", 1 << 50), ("a.json", "mscclpp", 1 << 20)):
        limits = ("--from", "1KiB") if kind == "msccl-xml" else ("--from", "1KiB", "--to", "1MiB")
        assert certree("export", made / "s.json", "--format", kind, *limits, "-o", tmp_path / name).code == 0
        document = json_of("verify", tmp_path / name)
        assert (document["min_bytes"], document["max_bytes"]) == (1 << 10, expected)
    with pytest.raises(InputError, match="sizes 2 to 1: the smallest comes first"):
        export_program(made / "s.json", "mscclpp", tmp_path / "c.json", sizes=(2, 1))
    with pytest.raises(InputError, match="sizes 1 to 2: not for chakra"):
        export_program(made / "s.json", "chakra", tmp_path / "c", sizes=(1, 2))


def test_programs_of_a_tuning(made: Path, tmp_path: Path) -> None:
    ranges = [{"from": 1024, "to": 4095, "file": "s.json"}, {"from": 4096, "to": 8192, "file": "s.json"}]
    (tmp_path / "s.json").write_bytes((made / "s.json").read_bytes())
    (tmp_path / "table.json").write_text(json.dumps({"format": "certree-tune-report", "version": 1, "ranges": ranges}))
    done = certree("export", tmp_path, "--format", "msccl-xml", "-o", tmp_path / "set")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == f"{tmp_path / 'set' / '0_s.xml'}: 0 to 4,095 bytes"
    document = json_of("verify", tmp_path / "set" / "1_s.xml")
    assert (document["min_bytes"], document["max_bytes"]) == (4096, 1 << 50)
    assert certree("export", tmp_path, "--format", "chakra", "-o", tmp_path / "other").code == 2


def test_improve_takes_an_imported_program(made: Path, tmp_path: Path) -> None:
    assert certree("import", made / "s.xml", "--topology", "ring:4", "-o", tmp_path / "back.json").code == 0
    done = certree("improve", tmp_path / "back.json", "--size", "1MiB", "-o", tmp_path / "better.json")
    assert done.code == 0, done.err
    assert json_of("verify", tmp_path / "better.json")["valid"]


def test_a_damaged_plan_or_trace(made: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text((made / "p.json").read_text().replace('"name":"signal"', '"name":"nop"', 1))
    assert "invalid: all-reduce of 4 ranks: 1 × unmatched" in certree("verify", wrong).out
    wrong.write_text((made / "p.json").read_text()[:-9])
    assert "is not JSON" in certree("verify", wrong).err
    (tmp_path / "t.0.et").write_bytes((made / "traces/algorithm.0.et").read_bytes()[:-2])
    assert "are left" in certree("verify", tmp_path / "t.0.et").err


def test_a_wrong_program_is_refused(made: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xml"
    wrong.write_text((made / "all-pairs.xml").read_text().replace('type="re"', 'type="cpy"', 1))
    outcome = certree("verify", wrong)
    assert outcome.code == 1
    assert "invalid: all-reduce of 3 ranks: 3 × wrong-data" in outcome.out
    assert "out of place: o[0] of rank 0 lacks" in outcome.out
    refused = certree("import", wrong, "--topology", "full:3", "-o", tmp_path / "wrong.json")
    assert refused.code == 1
    assert not (tmp_path / "wrong.json").exists()
    assert json_of("verify", wrong, code=1)["violation_counts"] == {"wrong-data": 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("import s.xml -o b.json", "a program does not say its network; give it with --topology"),
        ("import s.xml --topology ring:5 -o b.json", "ring:5 has 5 endpoints; the program has 4 ranks"),
        ("import s.xml --topology ring:4 --root 1 -o b.json", "all-reduce has no single root"),
        ("verify s.xml --size 1MiB", "times need a network; give --topology"),
        ("verify s.xml --collective broadcast --root 0", "the collective is all-reduce, not broadcast"),
        ("export s.json --format msccl-xml --size 1MiB -o b.xml", "a program for msccl-xml is for any size"),
        ("export s.json --format mscclpp --params multitree -o b.json", "a program for mscclpp is for any size"),
        ("export s.json --format chakra --epoch 1 -o b", "a program for chakra has no epoch"),
        ("export s.json --format mscclpp -o b.xml", "the name of a mscclpp file must end in .json"),
        ("export s.json --format chakra -o traces", "traces exists; name a new folder"),
        ("verify traces/algorithm.1.et --root 1 --collective broadcast", "the collective is all-reduce, not broadcast"),
        ("import nothing.et --topology ring:4 -o b.json", "no files NAME.RANK.et"),
        ("export s.json --from 1KiB -o b", "--from and --to are for programs of runtimes"),
        ("export s.json --format msccl-xml -o b.json", "the name of a msccl-xml file must end in .xml"),
        ("export s.json --format msccl-xml -o s.xml", "exists; pass --force"),
        ("export s.json --format nccl -o b.xml", "unknown table format 'nccl'"),
        ("improve s.xml -o b.json", "a program does not say its network"),
        ("import s.json --topology ring:4 -o b.json", "--topology and --root are for programs"),
    ],
)
def test_bad_input(made: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str) -> None:
    monkeypatch.chdir(made)
    before = sorted(made.iterdir())
    outcome = certree(*arguments.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert sorted(made.iterdir()) == before


def test_in_place_only(tmp_path: Path) -> None:
    path = tmp_path / "ring.xml"
    path.write_text(ring(4))
    assert certree("verify", path).out.startswith("valid: all-reduce of 4 ranks, in place\n")
