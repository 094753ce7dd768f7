"""`certree synthesize`: every option, the keys scripts rely on, the same bytes twice, and Ctrl-C."""

import dataclasses
import json
import os
import signal
from fractions import Fraction

import pytest

from certree.models.machine.machine import load_machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_file import load_schedule
from certree.models.schedule.timing import schedule_cycles, slot_timing
from certree.synth.method import METHODS, load_methods
from certree.verify.checker import verify_schedule
from tests.cli.running import assert_bad_input, certree, json_of, start

KEYS = {
    "valid", "collective", "method", "chunks", "steps", "total_steps", "delay", "period", "repeats", "transfers", "bandwidth_time",
    "bandwidth_bound", "latency_steps", "latency_bound", "optimal_in", "gap", "time_cycles", "witnesses",
}  # fmt: skip


def test_options_stand_with_the_method_or_apart(tmp_path):
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    assert certree("synthesize", "ring:4", "--method", "ring:bidirectional=true", "-o", one).code == 0
    assert certree("synthesize", "ring:4", "--method", "ring", "--option", "bidirectional=true", "-o", other).code == 0
    assert one.read_bytes() == other.read_bytes()


def test_document_and_file_agree(tmp_path):
    file = tmp_path / "s.json"
    document, schedule = json_of("synthesize", "mesh:2x3", "--size", "1MiB", "-o", file), load_schedule(file)
    assert document.keys() >= KEYS
    assert "violations" not in document
    verdict = verify_schedule(schedule)
    assert verdict.valid
    assert document["valid"] is True
    for key in ("chunks", "steps", "total_steps", "delay", "period", "repeats", "transfers"):
        assert document[key] == getattr(schedule, key)
    assert document["collective"] == "all-reduce"
    assert document["method"] == schedule.provenance["method"]
    assert document["bandwidth_time"] == str(verdict.quality.bandwidth_time)
    gap = Fraction(document["bandwidth_time"]) / Fraction(document["bandwidth_bound"]) - 1
    assert document["gap"]["bandwidth"] == str(gap)
    machine = load_machine("multitree")
    assert document["time_cycles"] == schedule_cycles(schedule, slot_timing(schedule, 1 << 20, machine), machine)
    assert document["witnesses"] == list(verdict.quality.witnesses)
    assert schedule.certificate["bounds"]
    assert schedule.made_for == MadeFor(1 << 20, machine)


def test_words_and_progress_go_to_different_streams(tmp_path):
    outcome = certree("synthesize", "ring:4", "--size", "64KiB", "-o", tmp_path / "s.json")
    assert outcome.code == 0
    assert outcome.out.startswith("valid: all-reduce on ring:4, made by ")
    for text in ("bandwidth time:", "bound 0.75 (3/4, partition)", "latency:", "time:", "64 KiB"):
        assert text in outcome.out
    assert "picked" in outcome.err
    assert f"wrote {tmp_path / 's.json'}" in outcome.err


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".npz"])
def test_same_seed_same_bytes(tmp_path, suffix):
    for name in ("a", "b"):
        assert certree("synthesize", "ring:5", "--size", "64KiB", "--seed", "3", "-o", tmp_path / (name + suffix)).code == 0
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert load_schedule(tmp_path / f"a{suffix}").provenance["seed"] == 3


def test_the_fastest_paced_schedule_on_a_switch_network(tmp_path):
    """In slots another schedule is as fast; what is claimed is what a run of the file takes, of large messages on lanes."""
    file = tmp_path / "s.json"
    asked = ("synthesize", "fattree:2x2", "--size", "1MiB", "-o", file, "--force")
    slotted = json_of(*asked)
    paced = json_of(*asked, "--run", "paced")
    assert slotted["method"] != paced["method"]
    assert paced["compared"] == "paced"
    assert slotted["time_cycles"] <= paced["compared_cycles"] < paced["time_cycles"]
    run = ("simulate", file, "--run", "paced", "--json", "--size")
    lanes, routed = (certree(*run, "1MiB", "--engine", engine).document for engine in ("lanes", "auto"))
    assert routed["cycles"] == paced["compared_cycles"]
    assert routed["engine"] == "flit"
    assert routed["cycles"] >= lanes["cycles"]
    assert "compared in slots or paced: " in certree(*asked, "--run", "fastest").out
    large = ("synthesize", "fattree:2x2", "--size", "5MiB", "-o", file, "--force")
    paced = json_of(*large, "--run", "paced")
    assert paced["compared"] == "paced on lanes"
    assert paced["compared_cycles"] == certree(*run, "5MiB", "--engine", "lanes").document["cycles"]
    fastest = certree(*large, "--run", "fastest")
    assert "compared in slots or paced on lanes: " in fastest.out
    assert "fewest cycles in slots or paced on lanes (" in fastest.err


def test_options_reach_the_method():
    one, both = (
        json_of("synthesize", "ring:6", "--method", "ring", "--option", f"bidirectional={value}") for value in ("false", "true")
    )
    assert Fraction(both["bandwidth_time"]) == Fraction(one["bandwidth_time"]) / 2


def test_machine_file(tmp_path):
    """A machine without latencies: the ring's 2·(N - 1) steps cost nothing but serialization and reduction."""
    document = {"format": "certree-machine", "version": 1} | load_machine("multitree").document()
    document |= {"name": "near", "link_latency_cycles": 0, "router_cycles": 0, "ni_cycles": 0}
    del document["router"]  # a table of its own; without one the routers are as usual
    lines = [f"{key} = {json.dumps(value)}" for key, value in document.items()]
    (tmp_path / "near.toml").write_text("\n".join(lines))
    far = json_of("synthesize", "ring:4", "--method", "ring", "--size", "1MiB")
    near = json_of("synthesize", "ring:4", "--method", "ring", "--size", "1MiB", "--params", tmp_path / "near.toml")
    assert far["time_cycles"] - near["time_cycles"] == 6 * 158
    assert near["machine"] == "near"


def test_time_limit_is_recorded(tmp_path):
    file = tmp_path / "s.json"
    assert certree("synthesize", "ring:4", "--size", "64KiB", "--time-limit", "90s", "-o", file).code == 0
    assert load_schedule(file).provenance["time_limit_seconds"] == "90"


def test_an_existing_output_is_refused_before_any_work(tmp_path, monkeypatch):
    load_methods()

    def fail(request):
        raise AssertionError("work was done")

    monkeypatch.setitem(METHODS._entries, "auto", fail)
    file = tmp_path / "s.json"
    file.write_text("mine")
    assert_bad_input(certree("synthesize", "ring:4", "-o", file), "exists; pass --force to overwrite it")
    assert_bad_input(certree("synthesize", "ring:4", "-o", tmp_path), "is a folder; name a file")
    assert_bad_input(certree("synthesize", "ring:4", "-o", tmp_path / "none" / "s.json"), "does not exist")
    assert file.read_text() == "mine"


def test_force_overwrites(tmp_path):
    file = tmp_path / "s.json"
    file.write_text("mine")
    assert certree("synthesize", "ring:4", "--method", "ring", "--force", "-o", file).code == 0
    assert verify_schedule(load_schedule(file)).valid


def test_a_wrong_method_is_an_internal_error(tmp_path, monkeypatch):
    """The synthesizer is not trusted: what it made is verified, and nothing is written."""
    ring = load_methods()["ring"]

    def forgetful(request, _):
        schedule = ring(request)
        keep = {name: getattr(schedule, name)[1:] for name in ("chunk", "op", "step", "src", "dst", "route")}
        return dataclasses.replace(schedule, **keep)

    monkeypatch.setitem(METHODS._entries, "ring", dataclasses.replace(ring, make=forgetful))
    outcome = certree("synthesize", "ring:4", "--method", "ring", "-o", tmp_path / "s.json")
    assert outcome.code == 70
    assert outcome.out == ""
    assert outcome.err.splitlines()[-1].startswith("error: the schedule that was made is invalid: ")
    assert not os.listdir(tmp_path)


def interrupt_a_search(*arguments):
    """Start a search that lasts for minutes and press Ctrl-C once it reports progress."""
    process = start("synthesize", "torus:3x3", "--method", "exact", "--effort", "1000", *arguments)
    line = process.stderr.readline()
    assert "looking for a schedule" in line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    file = tmp_path / "s.json"
    code, out, err = interrupt_a_search("-o", file, "--json")
    assert code == 130
    assert f"error: interrupted; this is the best schedule found so far, written to {file}" in err
    assert "Traceback" not in err
    document, schedule = json.loads(out), load_schedule(file)
    assert document["valid"] is True
    assert document["transfers"] == schedule.transfers
    assert verify_schedule(schedule).valid
    assert os.listdir(tmp_path) == ["s.json"]


def test_an_algorithm_as_published_may_be_refuted(tmp_path):
    asked, file = ["synthesize", "torus:4x4", "--method", "double-binary-tree", "--chunks", "8"], tmp_path / "s.json"
    refuted = json_of(*asked, "--option", "rounds=published", "-o", file, code=1)
    assert refuted["valid"] is False
    assert {violation["rule"] for violation in refuted["violations"]} == {"capacity"}
    assert certree("verify", file).code == 1
    assert load_schedule(file).certificate is None
    told = certree(*asked, "--option", "rounds=published")
    assert (told.code, told.out.startswith("invalid: all-reduce on torus:4x4, made by double-binary-tree")) == (1, True)
    assert json_of(*asked)["valid"] is True
    right = certree(*asked[:1], "switch:4", *asked[2:], "--option", "rounds=published", "-o", file, "--force")
    assert right.code == certree("verify", file).code == 0


def test_ctrl_c_before_anything_was_found(tmp_path, monkeypatch):
    load_methods()

    def interrupt(request):
        raise KeyboardInterrupt

    monkeypatch.setitem(METHODS._entries, "auto", interrupt)
    outcome = certree("synthesize", "ring:4", "-o", tmp_path / "s.json")
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "error: interrupted before a schedule was found\n"
    assert not os.listdir(tmp_path)


def test_ctrl_c_keeps_nothing_of_more_steps_than_asked_for(tmp_path, monkeypatch):
    ring = load_methods()["ring"]

    def interrupted(request, _):
        request.offer(ring(dataclasses.replace(request, steps=None)))  # 6 steps
        raise KeyboardInterrupt

    monkeypatch.setitem(METHODS._entries, "ring", dataclasses.replace(ring, make=interrupted))
    for steps, is_too_few in (("6", False), ("5", True)):
        outcome = certree("synthesize", "ring:4", "--method", "ring", "--steps", steps, "-o", tmp_path / f"{steps}.json")
        assert outcome.code == 130
        assert ("before a schedule was found" in outcome.err) == is_too_few
    assert os.listdir(tmp_path) == ["6.json"]


def test_ctrl_c_while_bounds_are_looked_for_keeps_the_schedule(tmp_path, monkeypatch):
    """The certificate then holds the cheap bounds only."""

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("certree.synth.bounds.find.find_bounds", interrupt)
    outcome = certree("synthesize", "mesh:3x3", "--method", "multitree", "-o", tmp_path / "s.json", "--json")
    assert outcome.code == 130
    assert outcome.document["valid"] is True
    assert {bound["kind"] for bound in load_schedule(tmp_path / "s.json").certificate["bounds"]} == {"counting", "distance"}


def test_the_fewest_steps_are_proved_or_said_not_to_be(tmp_path) -> None:
    target = tmp_path / "ring.json"
    done = certree("synthesize", "ring:5", "--method", "exact", "--chunks", "3", "-o", str(target))
    assert "  steps: 4 for 3 chunks, proved to be the fewest (drat)\n" in done.out
    assert certree("verify", str(target)).out == done.out
    document = json.loads(target.read_text())
    document["certificate"]["fewest_steps"]["proof"]["sha256"] = "0" * 64
    target.write_text(json.dumps(document))
    refused = certree("verify", str(target), "--json")
    assert (refused.code, [found["rule"] for found in refused.document["violations"]]) == (1, ["proof-digest"])
    again = certree("certify", str(target), "-o", str(tmp_path / "again.json"), "--json")
    assert (again.code, again.document["fewest_steps"]) == (0, None)  # a claim that does not hold is dropped
    open_ = certree("synthesize", "mesh:2x3", "--method", "exact", "--option", "exchange=false")
    assert "  steps: 6 for 6 chunks, not proved to be the fewest; noted: not proved: 5 steps are possible, with" in open_.out
