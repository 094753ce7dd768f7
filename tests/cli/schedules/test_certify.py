"""`certree certify`: evidence for schedules from anywhere."""

from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.schedule_file import load_schedule, save_schedule
from certree.synth.exact.optimum_search import OptimumSearch
from certree.verify.checker import verify_schedule
from tests.cli.artefacts import schedule_file, with_columns
from tests.cli.running import certree, json_of
from tests.cli.schedules.test_synthesize import KEYS
from tests.cli.schedules.test_verify import CSV
from tests.models.examples import schedule


def test_certificate_is_added(tmp_path):
    bare = with_columns(schedule_file(tmp_path, "mesh:3x3", "multitree"), "bare.json")
    assert load_schedule(bare).certificate is None
    outcome = json_of("certify", bare, "-o", tmp_path / "certified.json")
    assert outcome.keys() >= KEYS
    assert [witness["kind"] for witness in outcome["witnesses"]] == ["partition", "distance"]
    certified = load_schedule(tmp_path / "certified.json")
    assert certified.digest == load_schedule(bare).digest
    assert certified.certificate["claim"]["bandwidth_bound"] == "2/3"
    assert verify_schedule(certified).valid


def test_certifying_again_changes_nothing(tmp_path):
    file = schedule_file(tmp_path)
    assert certree("certify", file, "-o", tmp_path / "again.json").code == 0
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_csv_becomes_a_certified_schedule(tmp_path):
    """Two nodes: a reduce and a copy are as few steps as there can be, and one chunk each way as few rounds."""
    (tmp_path / "mine.csv").write_text(CSV)
    arguments = ["certify", tmp_path / "mine.csv", "-o", tmp_path / "s.json", "--json"]
    document = certree(*arguments, "--topology", "ring:2", "--collective", "all-reduce").document
    assert (document["bandwidth_time"], document["bandwidth_bound"]) == ("2", "1")
    assert (document["latency_steps"], document["latency_bound"]) == (2, 1)
    assert document["gap"] == {"bandwidth": "1", "latency": "1"}
    assert certree("verify", tmp_path / "s.json").code == 0


def test_unequal_shares_are_bounded_too(tmp_path):
    """All three chunks are rooted at node 0 of a path: all of M enters node 2 over one link, which no equal-share bound says."""
    rows = [(chunk, Op.COPY, chunk + hop, hop, hop + 1) for chunk in range(3) for hop in range(2)]
    save_schedule(schedule("mesh:3", "all-gather", [0, 0, 0], rows), tmp_path / "shares.json")
    outcome = json_of("certify", tmp_path / "shares.json", "-o", tmp_path / "s.json")
    assert outcome["bandwidth_bound"] == "1"


def test_exact_proves_what_no_schedule_beats(tmp_path):
    file, target = schedule_file(tmp_path, "ring:5", "multitree"), tmp_path / "certified.json"
    done = certree("certify", file, "--exact", "-o", target)
    assert done.code == 0
    assert "100.00 % above this bound; optimal with as few chunks and rounds per chunk" in done.out
    assert "gap" not in done.out
    report = json_of("certify", file, "--exact", "-o", target, "--force")
    assert (report["exact"], report["exact_point"], report["better"]) == ("optimal", [5, 4, 4], None)
    assert json_of("verify", target)["exact"] == "optimal"
    assert json_of("verify", file)["exact"] is None
    assert json_of("certify", target, "-o", tmp_path / "again.json")["exact"] == "optimal"  # the proof is kept
    assert sorted(path.name for path in tmp_path.glob("*.better.json")) == []


def test_exact_writes_what_is_better(tmp_path):
    file, target = schedule_file(tmp_path, "mesh:2x2", "multitree"), tmp_path / "mesh.json.gz"
    report = json_of("certify", file, "--exact", "--size", "64KiB", "-o", target)
    better = tmp_path / "mesh.better.json"
    assert (report["exact"], report["exact_point"], report["better_point"]) == ("beaten", [4, 4, 4], [4, 3, 3])
    assert (report["better"], report["better_exact"], json_of("verify", better)["exact"]) == (str(better), "optimal", "optimal")
    assert json_of("simulate", better)["cycles"] == report["better_cycles"] == report["simulated_cycles"] - report["cycles_saved"]
    assert report["cycles_saved"] > 0
    assert json_of("verify", target)["exact"] is None
    again = certree("certify", file, "--exact", "-o", tmp_path / "mesh.json")
    assert (again.code, "mesh.better.json exists" in again.err) == (2, True)


def test_exact_takes_a_csv_and_tables(tmp_path):
    (tmp_path / "mine.csv").write_text(CSV)
    arguments = ["certify", tmp_path / "mine.csv", "--exact", "-o", tmp_path / "s.json", "--json"]
    report = certree(*arguments, "--topology", "ring:2", "--collective", "all-reduce").document
    assert (report["exact"], report["better_point"], report["better_exact"]) == ("beaten", [1, 1, 1], "optimal")
    file = schedule_file(tmp_path, "ring:5", "multitree", name="ring.json")
    assert certree("export", file, "-o", tmp_path / "tables").code == 0
    assert json_of("certify", tmp_path / "tables", "--exact", "-o", tmp_path / "t.json")["exact"] == "optimal"


def test_exact_is_open_where_nothing_was_decided(tmp_path, monkeypatch):
    file = schedule_file(tmp_path, "mesh:2x2", "packing", name="mesh.json")
    done = certree("certify", file, "--exact", "-o", tmp_path / "open.json", "--json")
    assert (done.code, done.document["exact"], done.document["exact_point"]) == (3, "open", None)
    assert done.document["tried"] == [
        "exact optimum: the machine has delay 1 and one step after the other; the schedule has delay 2"
    ]
    file = schedule_file(tmp_path, "ring:5", "multitree")
    out_of_time = certree("certify", file, "--exact", "--time-limit", "0.000001s", "-o", tmp_path / "late.json")
    assert (out_of_time.code, "  exact: open; tried:" in out_of_time.out) == (3, True)
    assert "no time left" in out_of_time.out
    assert certree("verify", tmp_path / "late.json").code == 0

    def interrupted(search) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(OptimumSearch, "run", interrupted)
    stopped = certree("certify", file, "--exact", "-o", tmp_path / "stopped.json")
    assert (stopped.code, "interrupted; this is what was found so far" in stopped.err) == (130, True)
    assert certree("verify", tmp_path / "stopped.json").code == 0


def test_exact_compares_fine_slots_in_cycles(tmp_path):
    """Optimal with its proof, which is written for other checkers; or beaten by the schedule of method auto."""
    slow, fast = (schedule_file(tmp_path, "switch:3", method, f"{method}.json", size="32B") for method in ("two-shot", "one-shot"))
    report = json_of("certify", fast, "--exact", "-o", tmp_path / "optimal.json")
    assert (report["exact"], report["exact_point"], report["exact_cycles"]) == ("optimal", None, report["simulated_cycles"])
    assert json_of("verify", tmp_path / "optimal.json")["exact_cycles"] == report["simulated_cycles"]
    proofs = certree("verify", tmp_path / "optimal.json", "--proofs", tmp_path / "proofs")
    assert (proofs.code, "wrote 2 formulas and their proofs" in proofs.err) == (0, True)
    assert json_of("certify", tmp_path / "optimal.json", "-o", tmp_path / "again.json")["exact"] == "optimal"  # it is kept
    beaten = json_of("certify", slow, "--exact", "-o", tmp_path / "beaten.json")
    assert (beaten["exact"], beaten["better_exact"], beaten["better_cycles"]) == ("beaten", "optimal", report["simulated_cycles"])
    assert json_of("verify", tmp_path / "beaten.better.json")["exact_cycles"] == report["simulated_cycles"]
    late = certree("certify", fast, "--exact", "--time-limit", "0.000001s", "-o", tmp_path / "late.json")
    assert (late.code, "undecided" in late.out) == (3, True)


def test_options_of_exact_need_it(tmp_path):
    done = certree("certify", schedule_file(tmp_path), "--effort", "2", "-o", tmp_path / "certified.json")
    assert (done.code, "--effort is an option of --exact" in done.err) == (2, True)


def test_exact_by_any_solver(tmp_path):
    file = schedule_file(tmp_path, "ring:5", "multitree")
    for solver in ("auto", "cadical", "cp-sat", "z3"):
        report = json_of("certify", file, "--exact", "--solver", solver, "-o", tmp_path / f"{solver}.json")
        assert report["exact"] == "optimal"
    done = certree("certify", file, "--exact", "--solver", "minisat", "-o", tmp_path / "none.json")
    assert (done.code, "minisat" in done.err, "cadical, cp-sat, z3" in done.err) == (2, True, True)


def test_the_proofs_of_an_optimum_are_written_for_other_checkers(tmp_path):
    file = schedule_file(tmp_path, "ring:5", "multitree")
    assert certree("certify", file, "--exact", "-o", tmp_path / "ring.json").code == 0
    done = certree("verify", tmp_path / "ring.json", "--proofs", tmp_path / "proofs")
    assert (done.code, "wrote 2 formulas and their proofs" in done.err) == (0, True)
    names = sorted(path.name for path in (tmp_path / "proofs").iterdir())
    assert names == [f"refuted_c5_s{steps}_r4.{end}" for steps in (2, 3) for end in ("cnf", "drat", "pbp")]
    fewest = schedule_file(tmp_path, "ring:5", "exact", "fewest.json", chunks=3)
    assert "wrote 1 formulas" in certree("verify", fewest, "--proofs", tmp_path / "one").err
