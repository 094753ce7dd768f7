"""`certree simulate`: what runs is what was exported; slotted runs keep the closed form to the cycle."""

import dataclasses
import json
from fractions import Fraction

import pytest

from certree.api.reports.run_report import holds
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.profile import factored_profile
from certree.hw.engines.runs import Run
from certree.hw.run import run
from certree.models.schedule.schedule_file import save_schedule
from tests.cli.artefacts import schedule_file, without_first_transfer
from tests.cli.running import assert_bad_input, certree, json_of
from tests.hw.made import STAR

KEYS = {"cycles", "closed_form_cycles", "contention_cycles", "late", "data_ok", "engine", "max_link_utilization"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return schedule_file(tmp_path_factory.mktemp("simulate"), "mesh:3x3", "multitree")


def test_slotted_run_of_a_file(file):
    document = json_of("simulate", file, "--size", "64KiB")
    assert document.keys() >= KEYS
    assert document["cycles"] == document["closed_form_cycles"] == json_of("verify", file, "--size", "64KiB")["time_cycles"]
    assert (document["contention_cycles"], document["late"], document["data_ok"]) == (0, 0, True)
    assert (document["engine"], document["source"]) == ("fast", "tables")


def test_paced_run_meets_contention(file):
    document = json_of("simulate", file, "--size", "64KiB", "--run", "paced", "--engine", "flit")
    assert document["closed_form_cycles"] is None
    assert document["contention_cycles"] > 0
    assert document["data_ok"] is True


def test_routers_with_an_effect_are_simulated(file):
    """BookSim2's have one interface a node: not what the fast engine knows, which says so; `auto` goes through them."""
    asked = ("simulate", file, "--size", "16KiB", "--params", "booksim2", "--run", "paced")
    outcome = certree(*asked, "--json")
    assert outcome.document == json_of(*asked, "--engine", "flit")
    assert outcome.document["engine"] == "flit"
    assert "through routers, flit by flit: messages over several links share an interface" in outcome.err
    refused = certree(*asked, "--engine", "fast")
    assert_bad_input(refused, "the fast engine is not exact with these routers: messages over several links", notes=2)
    assert json_of(*asked, "--engine", "lanes")["cycles"] < outcome.document["cycles"]


def test_messages_that_meet_in_routers_are_simulated_there(tmp_path):
    """Paced trees through a switch: lanes would let one wait for all of the other."""
    path = schedule_file(tmp_path, "switch:6", "double-binary-tree", name="trees.json", size="16KiB")
    asked = ("simulate", path, "--run", "paced")
    outcome = certree(*asked, "--trace", tmp_path / "t.ndjson", "--json")
    assert outcome.document == json_of(*asked, "--engine", "flit")
    assert "through routers, flit by flit: messages over several links wait for each other in the network" in outcome.err
    refused = certree(*asked, "--engine", "fast", "--trace", tmp_path / "fast.ndjson")
    assert_bad_input(
        refused, "the fast engine is not exact with these routers: messages over several links wait for each other", notes=1
    )
    assert not (tmp_path / "fast.ndjson").exists()
    assert json_of("simulate", path)["engine"] == "fast"


def test_directory_runs_as_it_is_or_at_another_size(file, tmp_path):
    assert certree("export", file, "--size", "32KiB", "-o", tmp_path / "t").code == 0
    of_file = {size: json_of("simulate", file, "--size", size) for size in ("32KiB", "64KiB")}
    assert json_of("simulate", tmp_path / "t") == of_file["32KiB"]
    assert json_of("simulate", tmp_path / "t", "--size", "64KiB") == of_file["64KiB"]


def test_words(file):
    outcome = certree("simulate", file, "--size", "16KiB")
    assert outcome.code == 0
    for text in (
        "slotted run of 16 KiB on mesh:3x3",
        "cycles: equal",
        "contention: 0 cycles; late rows: 0",
        "data: right at every rank",
    ):
        assert text in outcome.out


def test_wrong_schedules_give_wrong_data(tmp_path):
    outcome = certree("simulate", without_first_transfer(schedule_file(tmp_path)), "--size", "16KiB", "--json")
    assert outcome.code == 1
    assert outcome.document["data_ok"] is False
    assert "WRONG" in certree("simulate", tmp_path / "wrong.json", "--size", "16KiB").out


def test_trace(file, tmp_path):
    trace = tmp_path / "trace.ndjson"
    outcome = json_of("simulate", file, "--size", "16KiB", "--trace", trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert len(lines) == outcome["messages"] == 144
    assert certree("simulate", file, "--size", "16KiB", "--trace", trace, "--force").code == 0


def result(**changes):
    """A slotted run that keeps every promise, with changes."""
    fields = {field.name: None for field in dataclasses.fields(Run)}
    good = {"mode": "slotted", "cycles": 9, "closed_form_cycles": 9, "contention_cycles": 0, "late": 0, "data_ok": True}
    return Run(**(fields | good | changes))


def test_a_2d_ring_is_paced_in_parts(tmp_path):
    """A 2D ring runs as in `reproduce`; what needs one run says why there is none."""
    ring = schedule_file(tmp_path, "torus:3x3", "ring-2d", name="ring.json", size="96KiB")
    asked = ("simulate", ring, "--size", "96KiB", "--run", "paced")
    document = json_of(*asked)
    assert (document["parts"], document["data_ok"], document["max_link_utilization"]) == (2, True, None)
    assert "in 2 parts, since it reuses a chunk's buffer" in certree(*asked).out
    compared = json_of("compare", "torus:3x3", "--size", "96KiB", "--methods", "ring-2d", "--simulate", "paced")
    assert compared["cells"][0]["simulated_cycles"] == document["cycles"]
    for engine in ("fast", "flit", "lanes"):
        assert json_of(*asked, "--engine", engine) == document | {"engine": engine}
    assert json_of(*asked, "--step-time", "exact")["parts"] == 2
    for more in (("--skew", "0=5"), ("--trace", tmp_path / "trace.ndjson"), ("--longest-wait", "9")):
        refused = certree(*asked, *more)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.endswith("run it slotted\n")


@pytest.mark.parametrize("change", [{"data_ok": False}, {"late": 1}, {"contention_cycles": 1}, {"cycles": 10}, {"cycles": 8}])
def test_broken_promises_of_a_slotted_run(change):
    assert holds(result())
    assert not holds(result(**change))


def test_planned_waits_are_no_failure(tmp_path):
    """Messages wait at routers as they should, no more and no less."""
    asked = ("--size", "64KiB", "--method", "retime", "--option", "of=ring,bidirectional=true", "--option", "from=paced")
    assert certree("synthesize", "fattree:2x2", *asked, "-o", tmp_path / "s.json").code == 0
    for engine in ("fast", "lanes"):
        ran = json_of("simulate", tmp_path / "s.json", "--engine", engine, "--without-routers")
        assert 0 < ran["planned_cycles"] == ran["contention_cycles"]
    assert "of them planned; late rows: 0" in certree("simulate", tmp_path / "s.json", "--engine", "lanes").out
    waited = {"contention_cycles": 5}
    assert [holds(result(**waited), planned) for planned in (4, 5, 6)] == [False, True, False]


def test_paced_runs_promise_right_data_only():
    paced = {"mode": "paced", "closed_form_cycles": None, "contention_cycles": 5, "late": 0}
    assert holds(result(**paced))
    assert not holds(result(**paced, data_ok=False))


def test_slots_too_short_are_late(file, tmp_path, monkeypatch):
    """The exit code is 1 when the tables' slots do not last as long as they must."""

    def hurried(tables, options):
        return run(dataclasses.replace(tables, slot_cycles=tables.slot_cycles - 1), options)

    monkeypatch.setattr("certree.api.runs.simulation.run_schedule", hurried)
    outcome = json_of("simulate", file, "--size", "16KiB", code=1)
    assert outcome["late"] > 0


def test_what_repeats_and_fine_slots_are_paced(tmp_path):
    for method in ("retime", "pat"):
        (folder := tmp_path / method).mkdir()
        outcome = json_of("simulate", schedule_file(folder, "mesh:3x3", method, size="64KiB"), "--run", "paced")
        assert (outcome["run"], outcome["data_ok"], outcome["late"]) == ("paced", True, 0)


def test_background_packets_share_the_links(tmp_path):
    """`--background` goes through routers; the report says what became of the packets."""
    schedule, packets = tmp_path / "s.json", tmp_path / "p.csv"
    assert certree("synthesize", "ring:4", "--method", "ring", "--size", "64KiB", "-o", schedule).code == 0
    packets.write_text("id,src,dst,flits,start\n0,0,2,17,0\n1,1,3,17,5\n2,3,0,1,99999999\n")
    outcome = json_of("simulate", schedule, "--size", "64KiB", "--background", packets)
    assert outcome["engine"] == "flit"
    assert (outcome["background"]["packets"], outcome["background"]["arrived"]) == (3, 2)
    words = certree("simulate", schedule, "--size", "64KiB", "--background", packets).out
    assert "background: 2 of 3 packets arrived, the slowest in" in words
    watched = ("simulate", schedule, "--size", "64KiB", "--background", packets, "--longest-wait")
    assert json_of(*watched, "100000")["starved"] == []
    impatient = certree(*watched, "1")
    assert impatient.code == 1
    assert "starved: a message to node " in impatient.out
    alone = ("simulate", schedule, "--size", "64KiB", "--longest-wait", "100000")
    assert json_of(*alone)["engine"] == "flit"
    trace = tmp_path / "t.json"
    assert certree("simulate", schedule, "--size", "64KiB", "--background", packets, "--trace", trace).code == 0
    slices = {event["name"] for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X" and event["pid"] == 1}
    assert {"packet 0", "packet 1", "flow 0 of 0"} <= slices
    assert "packet 2" not in slices


@pytest.mark.parametrize("flow", ["message", "packet"])
def test_both_engines_take_the_closed_form(tmp_path, flow):
    schedule = schedule_file(tmp_path, "mesh:3x3", "multitree")
    for engine in ("fast", "flit"):
        document = json_of("simulate", schedule, "--size", "64KiB", "--engine", engine, "--flow", flow)
        assert (document["engine"], document["flow"]) == (engine, flow)
        assert document["cycles"] == document["closed_form_cycles"]


def test_every_flit_on_lanes_says_the_same(file):
    fast, lanes = (json_of("simulate", file, "--size", "16KiB", "--engine", engine) for engine in ("fast", "lanes"))
    assert (fast.pop("engine"), lanes.pop("engine")) == ("fast", "lanes")
    assert fast == lanes
    assert json_of("simulate", file, "--size", "16KiB")["engine"] == "fast"


def test_a_schedule_without_tables_runs_from_its_transfers(tmp_path):
    """A switch that adds has no table: export refuses the schedule, simulate says what it runs instead."""
    path = tmp_path / "star.json"
    save_schedule(STAR, path)
    refused = certree("export", path, "-o", tmp_path / "t", "--size", "64KiB")
    assert (refused.code, "node 4 is not an endpoint" in refused.err) == (2, True)
    outcome = certree("simulate", path, "--size", "64KiB", "--json")
    assert (outcome.code, outcome.document["source"], outcome.document["data_ok"]) == (0, "schedule", True)
    assert outcome.document["cycles"] == outcome.document["closed_form_cycles"]
    assert "running from transfers, not from tables" in outcome.err


def test_very_large_tables_run_from_memory(file, monkeypatch):
    """The run is the same; only the files in between are left out."""
    through_files = certree("simulate", file, "--size", "16KiB", "--json")
    monkeypatch.setattr("certree.hw.run.MOST_THROUGH_FILES", 0)
    monkeypatch.setattr("certree.hw.run.through_files", None)
    assert json_of("simulate", file, "--size", "16KiB") == through_files.document


def test_skew_makes_rows_late(file):
    """A source that starts two slots behind the others is late for them, and the sums are right all the same."""
    even = certree("simulate", file, "--size", "16KiB", "--skew", "0", "--drift", "0", "--json")
    assert (even.code, even.document["closed_form_cycles"]) == (0, even.document["cycles"])
    late = certree("simulate", file, "--size", "16KiB", "--skew", "0=2000", "--json")
    assert late.code == 1
    assert late.document["late"] > 0
    assert late.document["data_ok"]
    assert late.document["closed_form_cycles"] is None
    fast = certree("simulate", file, "--size", "16KiB", "--drift", "0=-1/2,1=100ppm", "--json")
    assert fast.document["data_ok"]


def test_step_time(file):
    paper, exact = (
        json_of("simulate", file, "--size", "16KiB", "--run", "paced", "--step-time", step) for step in ("paper", "exact")
    )
    assert paper["data_ok"]
    assert exact["data_ok"]
    assert exact["cycles"] != paper["cycles"]


def test_picture(file, tmp_path):
    trace = tmp_path / "trace.json"
    outcome = certree("simulate", file, "--size", "16KiB", "--trace", trace, "--json")
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event["ph"] == "X" and event["pid"] == 1 for event in events) == outcome.document["messages"]


def test_flow_engine(tmp_path):
    """Co-located PS on 12 servers is Table 2 of GenTree, with a start-up of server, switch and server."""
    path = schedule_file(tmp_path, "switch:12", "cps")
    document = json_of("simulate", path, "--size", "40MB", "--engine", "flow")
    profile, model = factored_profile((12,)), load_genmodel("gentree")
    expected = profile.seconds(model.middle, model.server, 3 * model.server.alpha_seconds, Fraction(10**7))
    assert Fraction(document["seconds"]) == expected
    assert document["picoseconds"] == round(expected * 10**12)
    words = certree("simulate", path, "--size", "40MB", "--engine", "flow", "--reading", "communicators=flows").out
    assert "s in 2 steps" in words
    assert "read as max-min, flows, everywhere" in words
