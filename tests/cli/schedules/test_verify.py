"""`certree verify`: files, CSVs and tables directories; valid is 0, refuted is 1, unreadable is 2."""

import json

import pytest

from certree.models.schedule.schedule_file import load_schedule
from tests.cli.artefacts import schedule_file, with_columns, without_first_transfer
from tests.cli.running import assert_bad_input, certree, json_of
from tests.cli.schedules.test_synthesize import KEYS

CSV = "chunk,op,src,dst,step\n0,reduce,1,0,0\n0,copy,0,1,1\n"


def test_valid_file_has_the_document_of_its_making(tmp_path):
    file = tmp_path / "s.json"
    made = json_of("synthesize", "ring:4", "--method", "multitree", "--size", "1MiB", "-o", file)
    outcome = json_of("verify", file, "--size", "1MiB")
    assert outcome == made


def test_time_is_of_the_size_asked_for(tmp_path):
    file = schedule_file(tmp_path)
    small, large = (json_of("verify", file, "--size", size)["time_cycles"] for size in ("64KiB", "64MiB"))
    assert small < large
    assert json_of("verify", file)["time_cycles"] == large


def test_refuted_file(tmp_path):
    outcome = certree("verify", without_first_transfer(schedule_file(tmp_path)), "--json")
    assert outcome.code == 1
    document = outcome.document
    assert document.keys() >= KEYS
    assert document["valid"] is False
    assert document["violations"]
    assert set(document["violations"][0]) == {"rule", "message", "rows"}
    assert [document[key] for key in ("bandwidth_time", "bandwidth_bound", "latency_steps", "time_cycles")] == [None] * 4
    assert (document["optimal_in"], document["witnesses"]) == ([], [])


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("certify {} -o out.json", "invalid: all-reduce on ring:4, made by ring: "),
        ("export {} -o out", "invalid: all-reduce on ring:4, made by ring: "),
        ("improve {} -o out.json", "invalid: all-reduce on ring:4, made by ring: "),
        ("simulate {} --engine flow", "invalid, and not simulated"),
        ("cost {}", "invalid: wrong.json, ring: "),
        ("verify {}", "missing: "),
    ],
)
def test_invalid_schedules_go_no_further(tmp_path, monkeypatch, command, text):
    """Exit code 1, and nothing is written."""
    monkeypatch.chdir(without_first_transfer(schedule_file(tmp_path)).parent)
    before = sorted(tmp_path.iterdir())
    outcome = certree(*command.format("wrong.json").split())
    assert outcome.code == 1
    assert text in outcome.out + outcome.err
    assert not command.startswith("simulate") or outcome.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_refuted_in_words(tmp_path):
    """Two chunks on one link in one step: the words name rule, step and link."""
    file = schedule_file(tmp_path)
    outcome = certree("verify", with_columns(file, step=[0] * load_schedule(file).transfers))
    assert outcome.code == 1
    assert outcome.out.startswith("invalid: all-reduce on ring:4, made by ring: ")
    assert "step 0" in outcome.out


def test_tampered_certificate_is_refuted(tmp_path):
    file = schedule_file(tmp_path)
    document = json.loads(file.read_text())
    document["certificate"]["claim"]["bandwidth_bound"] = "1"
    file.write_text(json.dumps(document))
    outcome = json_of("verify", file, code=1)
    assert {violation["rule"] for violation in outcome["violations"]} == {"certificate-claim"}


def test_schedule_for_another_network_or_collective(tmp_path):
    file = schedule_file(tmp_path)
    assert certree("verify", file, "--topology", "ring:4", "--collective", "all-reduce").code == 0
    outcome = json_of("verify", file, "--topology", "mesh:4", code=1)
    assert [violation["rule"] for violation in outcome["violations"]] == ["topology"]


def test_csv(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(CSV)
    outcome = json_of("verify", file, "--topology", "ring:2", "--collective", "all-reduce")
    assert (outcome["method"], outcome["transfers"], outcome["steps"]) == ("csv", 2, 2)


def test_wrong_csv_is_refuted(tmp_path):
    (tmp_path / "mine.csv").write_text(CSV.replace("0,copy,0,1,1", "0,copy,0,1,0"))
    outcome = certree("verify", tmp_path / "mine.csv", "--topology", "ring:2", "--collective", "all-reduce")
    assert outcome.code == 1
    assert "chunk 0" in outcome.out


def tables(tmp_path):
    assert certree("export", schedule_file(tmp_path), "--size", "64KiB", "-o", tmp_path / "tables").code == 0
    return tmp_path / "tables"


def test_tables_directory(tmp_path):
    folder = tables(tmp_path)
    outcome = json_of("verify", folder)
    of_file = json_of("verify", tmp_path / "s.json", "--size", "64KiB")
    for key in KEYS - {"method", "bandwidth_bound", "latency_bound", "optimal_in", "gap", "witnesses"}:
        assert outcome[key] == of_file[key], key
    assert certree("verify", folder, "--topology", "ring:4").code == 0
    assert certree("verify", folder, "--topology", "mesh:4").code == 1


def test_a_machine_that_is_not_the_networks_leaves_the_time_open(tmp_path):
    """The verdict does not depend on the machine; the closed form does."""
    file = schedule_file(tmp_path)
    document = json.loads(file.read_text())
    document["topology"]["clock"] = 2 * 10**9
    file.write_text(json.dumps(document))
    outcome = json_of("verify", file)
    assert outcome["time_cycles"] is None
    assert outcome["time_unknown"] == "the topology states a clock of 2 GHz, the machine 1 GHz"
    assert "time: unknown: the topology states a clock" in certree("verify", file).out


def test_names_in_files_cannot_steer_the_terminal(tmp_path):
    file = schedule_file(tmp_path)
    document = json.loads(file.read_text())
    document["provenance"]["method"] = "ring\x1b[2J\ud800"
    file.write_text(json.dumps(document))
    assert "made by ring?[2J?\n" in certree("verify", file).out
    assert json_of("verify", file)["method"] == "ring\x1b[2J\ud800"
    document["topology"]["name"], document["transfers"]["step"][0] = "mine\nvalid: all-reduce", 3
    file.write_text(json.dumps(document))
    outcome = certree("verify", file)
    assert outcome.code == 1
    assert " on mine?valid: all-reduce, made by " in outcome.out.splitlines()[0]


def test_csv_with_a_root(tmp_path):
    """Chunk c of a gather belongs to the c-th endpoint that is not the root."""
    file = tmp_path / "mine.csv"
    file.write_text("chunk,op,src,dst,step\n0,copy,0,1,0\n1,copy,2,1,0\n")
    gather = ("verify", file, "--topology", "ring:3", "--collective", "gather")
    document = json_of(*gather, "--root", "1")
    assert (document["valid"], document["collective"], document["root"]) == (True, "gather", 1)
    assert (document["bandwidth_time"], document["bandwidth_bound"]) == ("1/3", "1/3")
    assert document["optimal_in"] == ["bandwidth", "latency"]
    assert "valid: gather to node 1 on ring:3" in certree(*gather, "--root", "1").out
    assert certree(*gather, "--root", "0").code == 1
    certified = tmp_path / "mine.json"
    assert certree("certify", *gather[1:], "--root", "1", "-o", certified).code == 0
    assert certree("verify", certified).code == 0
    assert_bad_input(
        certree("verify", certified, "--collective", "gather", "--root", "2"),
        "the collective is gather to node 1, not gather to node 2",
    )


def test_contention_comes_with_the_rounds_it_takes(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("chunk,op,src,dst,step\n0,copy,1,0,0\n1,copy,2,1,0\n1,copy,1,0,0\n")
    outcome = json_of("verify", file, "--topology", "mesh:3", "--collective", "gather", "--root", "0", code=1)
    assert (outcome["serialized_rounds"], outcome["stated_rounds"]) == (2, 1)
    words = certree("verify", file, "--topology", "mesh:3", "--collective", "gather", "--root", "0").out
    assert "without contention, the same transfers in the same steps take 2 rounds, not 1" in words
