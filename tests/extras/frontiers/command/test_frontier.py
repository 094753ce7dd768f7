"""`certree frontier`, and `certree verify` of what it writes."""

import json

import pytest

from certree.extras.frontiers.command.frontier import frontier_command
from certree.synth.exact import frontier_search as frontier_module
from tests.cli.artefacts import schedule_file
from tests.cli.running import certree, json_of


def test_the_frontier_of_a_ring(tmp_path) -> None:
    target = tmp_path / "ring.json.gz"
    done = certree("frontier", "ring:4", "--collective", "all-gather", "--max-chunks", "3", "--json", "-o", str(target))
    assert done.code == 0
    report = done.document
    assert report["points"] == [[1, 2, 2], [2, 2, 3]]
    assert (report["undecided"], report["complete"], report["all_chunks"]) == ([], True, True)
    assert (report["rate_bound"], report["best_rate"], report["gap"], report["least_steps"]) == ("3/2", "3/2", "0", 2)
    assert {"point": [1, 1, 4], "proof": {"kind": "distance", "from": 0, "to": 2, "hops": 2}} in report["refuted"]
    again = json_of("verify", str(target))
    assert again == report | {"methods": []}


def test_the_published_algorithms_are_measured_by_it() -> None:
    methods = {entry["method"]: entry for entry in json_of("frontier", "torus:4x4", "--collective", "all-gather")["methods"]}
    assert methods["multitree"] == {"method": "multitree", "point": [1, 5, 5], "verdict": "improved", "better": [1, 4, 4]}
    dgx = certree("frontier", "dgx1", "--collective", "all-gather", "--max-chunks", "1")
    assert "  multitree: (1, 2, 2) optimal\n" in dgx.out
    assert "  ring: (1, 7, 7) improved by (1, 2, 2)\n" in dgx.out
    alone = certree("frontier", "dgx1", "--collective", "all-gather", "--max-chunks", "1", "--unaided", "--json")
    assert (alone.document["points"], alone.document["methods"]) == ([[1, 2, 2]], [])


def test_it_is_told_in_words() -> None:
    done = certree("frontier", "ring:5", "--max-chunks", "1")
    assert done.code == 0
    assert "frontier of all-reduce on ring:5: complete for up to 1 chunks per node" in done.out
    assert "  refuted by drat: (1, 2, 2)\n" in done.out
    assert "frontier: 1 chunks, 2 steps, 2 rounds" in done.err


def test_what_holds_for_any_number_of_chunks_is_told() -> None:
    done = certree("frontier", "dgx1", "--collective", "all-gather")
    assert "frontier of all-gather on dgx1: complete for any number of chunks" in done.out
    assert "  any number of chunks: at most 2 steps take ≥ 3/2 rounds per chunk (prices)\n" in done.out
    some = certree("frontier", "dgx1", "--collective", "all-gather", "--max-chunks", "3", "--json")
    assert (some.document["all_chunks"], some.document["step_bounds"]) == (False, [{"steps": 2, "rounds_per_chunk": "3/2"}])


def test_scratch_is_part_of_what_is_proved(tmp_path) -> None:
    target = tmp_path / "ring.json"
    arguments = ("frontier", "ring:5", "--max-chunks", "1", "--scratch", "1", "-o", str(target), "--json")
    done = certree(*arguments)
    assert (done.code, done.document["points"], done.document["scratch"]) == (0, [[1, 2, 2]], 1)
    assert ", and 1 scratch slots of one partial sum at every endpoint" in certree("verify", str(target)).out
    document = json.loads(target.read_text())
    target.write_text(json.dumps({**document, "scratch": 2}))
    assert certree("verify", str(target)).code == 1


def test_a_frontier_with_gaps_is_undecided(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(frontier_module, "TOTAL_CONFLICTS", 1)
    done = certree("frontier", "dgx1", "--collective", "all-gather", "--max-chunks", "3", "-o", str(tmp_path / "dgx.json"))
    assert done.code == 3
    assert "undecided: " in done.out
    assert "gap" in done.out
    assert certree("verify", str(tmp_path / "dgx.json")).code == 0  # it claims no more than it shows


def test_ctrl_c_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    def interrupted(search) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(frontier_module.FrontierSearch, "run", interrupted)
    done = certree("frontier", "ring:4", "-o", str(tmp_path / "ring.json"))
    assert done.code == 130
    assert "interrupted; this is what was found so far" in done.err
    assert (tmp_path / "ring.json").exists()


def bundle(tmp_path, change):
    target = tmp_path / "dgx.json"
    assert certree("frontier", "dgx1", "--collective", "all-gather", "--max-chunks", "3", "-o", str(target)).code == 0
    document = json.loads(target.read_text())
    change(document)
    target.write_text(json.dumps(document))
    return target


def test_a_forged_bundle_is_refuted(tmp_path) -> None:
    target = bundle(tmp_path, lambda document: document["refuted"][2].update(point=[3, 2, 5]))
    done = certree("verify", str(target))
    assert done.code == 1
    assert done.out.startswith("invalid: frontier of all-gather on dgx1")


def test_a_bundle_must_be_of_what_was_asked_for(tmp_path) -> None:
    target = bundle(tmp_path, lambda document: None)
    assert certree("verify", str(target), "--topology", "dgx1").code == 0
    other = certree("verify", str(target), "--topology", "ring:8", "--json")
    assert (other.code, [found["rule"] for found in other.document["violations"]]) == (1, ["topology"])


def test_formulas_and_proofs_for_other_checkers(tmp_path) -> None:
    target = tmp_path / "ring.json"
    assert certree("frontier", "ring:4", "--max-chunks", "4", "-o", str(target)).code == 0
    done = certree("verify", str(target), "--proofs", str(tmp_path / "proofs"))
    assert (done.code, "wrote 1 formulas and their proofs" in done.err) == (0, True)
    files = {path.suffix: path.read_text().splitlines() for path in (tmp_path / "proofs").iterdir()}
    assert sorted(files) == [".cnf", ".drat", ".pbp"]
    assert files[".cnf"][0] == "c all-reduce on ring:4: no schedule of (4, 2, 3) (chunks, steps, rounds)"
    assert "c chunks are interchangeable; their transfers of step 0 descend, which loses no schedule" in files[".cnf"]
    header = next(line for line in files[".cnf"] if line.startswith("p cnf"))
    assert files[".drat"][-1] == "0"
    assert files[".pbp"][:2] == ["pseudo-Boolean proof version 3.0", f"f {header.split()[3]};"]
    assert files[".pbp"][-4:] == ["rup >= 1;", "output NONE;", "conclusion UNSAT;", "end pseudo-Boolean proof;"]
    assert len(files[".pbp"]) == len(files[".drat"]) + 5


def test_the_command_says_what_it_assumes() -> None:
    assert "endpoints do not forward within a step" in (frontier_command.help or "")


def test_points_are_schedules(tmp_path) -> None:
    target = tmp_path / "ring.json"
    assert certree("frontier", "ring:4", "--max-chunks", "4", "-o", target).code == 0
    assert certree("verify", f"{target}:2,2,2").out.startswith("valid: all-reduce on ring:4\n  2 chunks · 2 steps")
    report = json_of("certify", f"{target}:4,3,3", "--exact", "-o", tmp_path / "point.json")
    assert (report["exact"], report["exact_point"]) == ("optimal", [4, 3, 3])
    assert json_of("simulate", f"{target}:2,2,2")["data_ok"]
    other = certree("verify", f"{target}:4,4,4")
    assert (other.code, other.err) == (2, f"error: {target} has no point 4,4,4; it has 1,2,2, 2,2,2, 4,3,3\n")
    whole = certree("simulate", target)
    assert whole.code == 2
    assert f"name the schedule of a point as {target}:C,S,R; its points: 1,2,2, 2,2,2, 4,3,3" in whole.err
    assert certree("frontier", "ring:4", "--max-chunks", "4", "--point", "4,3,3", "-o", tmp_path / "found.json").code == 0
    assert json_of("verify", tmp_path / "found.json")["steps"] == 3
    missing = certree("frontier", "ring:4", "--max-chunks", "1", "--point", "4,3,3", "-o", tmp_path / "none.json")
    assert (missing.code, missing.err.splitlines()[-1]) == (2, "error: the frontier has no point (4, 3, 3); it has (1, 2, 2)")


def test_a_schedule_is_rated_with_the_algorithms(tmp_path) -> None:
    file = schedule_file(tmp_path, "ring:4", "ring", "mine.json")
    report = json_of("frontier", "ring:4", "--max-chunks", "4", "--schedule", file)
    mine = next(entry for entry in report["methods"] if entry["method"] == "mine.json")
    assert mine == {"method": "mine.json", "point": [4, 6, 6], "verdict": "improved", "better": [2, 2, 2]}
    for arguments, words in (
        (("ring:5", "--max-chunks", "4"), "mine.json: the schedule is of all-reduce on ring:4"),
        (("ring:4", "--max-chunks", "2"), "mine.json: it has 4 chunks, more than 2"),
    ):
        done = certree("frontier", *arguments, "--schedule", file)
        assert (done.code, words in done.err) == (2, True)
