"""Goals of `synthesize`: what is taken tolerates clocks, is small enough for TLC, or fits an executor."""

import random
from fractions import Fraction

import pytest

import certree.api as ct
from certree.extras.goals.run.aim import aim_for, load_goals
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.fine.fine_tolerance import tolerates_clocks
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import load_machine
from tests.cli.running import assert_bad_input, certree, json_of

MULTITREE = load_machine("multitree")
DRIFT = Fraction(50, 1_000_000)


@pytest.mark.parametrize(
    ("network", "method", "collective"),
    [
        ("mesh:2x3", "packing", "all-reduce"),  # repeats
        ("ring:6", "multitree", "all-reduce"),
        ("switch:4", "direct", "all-to-all"),
        ("fattree:2x2,reducing=switches", "netreduce", "all-reduce"),
    ],
)
def test_runs_with_clocks_that_differ_are_right(network, method, collective):
    made = ct.synthesize(network, collective, method=method, size="64KiB", goal="hardware")
    assert tolerates_clocks(made, 20, DRIFT)
    draw, nodes = random.Random(1), [int(node) for node in ct.topology(network).endpoints]
    for _ in range(5):
        skew = ",".join(f"{node}={draw.randint(0, 20)}" for node in nodes)
        drift = ",".join(f"{node}={draw.choice((-50, 0, 50))}ppm" for node in nodes)
        run = ct.simulate(made, skew=skew, drift=drift)
        assert (run.data_ok, run.late) == (True, 0), (skew, drift)


def test_clocks_that_are_asked_for():
    made = ct.synthesize("ring:6", method="multitree", size="64KiB", goal="hardware", skew=200, drift="300ppm")
    assert tolerates_clocks(made, 200, Fraction(300, 1_000_000))
    as_published = ct.synthesize("ring:6", method="multitree", size="64KiB")
    assert made.provenance["compared"] == "for hardware (skew 200 cycles, drift 300 ppm)"
    assert made.provenance["fastest_cycles"] == timed(as_published, 65536, MULTITREE).cycles


def test_the_price_is_that_of_the_same_search_without_a_goal():
    made, plain = (ct.synthesize("ring:3", size="4KiB", goal=goal) for goal in ("hardware", None))
    cycles = timed(plain, 4096, MULTITREE).cycles
    assert made.provenance["fastest_cycles"] == cycles <= timed(made, 4096, MULTITREE).cycles


def test_all_states_are_checked():
    made = ct.synthesize("ring:4", method="multitree", size="64KiB", goal="model-check")
    (answer,) = ct.model_check(schedule=made)
    assert (answer.mode, answer.result) == ("exhaustive", "success")


@pytest.mark.parametrize("goal", ["rccl", "msccl-0.7.4", "mscclpp-0.9"])
def test_programs_fit_their_executor(goal, tmp_path):
    made = ct.synthesize("ring:4", method="multitree", size="64KiB", goal=goal)
    name = "mscclpp" if goal.startswith("mscclpp") else "msccl-xml"
    ct.export_program(made, name, tmp_path / "program")
    assert ct.verify(tmp_path / "program", executor=goal).valid


@pytest.mark.parametrize(
    ("network", "method", "goal", "reason"),
    [
        ("torus:8x8", "multitree", "model-check", "by random runs, not all states"),
        ("fattree:2x2,reducing=switches", "netreduce", "model-check", "no tables that TLC could check"),
        ("fattree:2x2,reducing=switches", "netreduce", "rccl", "only ranks add"),
    ],
)
def test_what_does_not_reach_a_goal_is_refused(network, method, goal, reason):
    with pytest.raises(UnsupportedError, match=reason):
        ct.synthesize(network, method=method, size="64KiB", goal=goal)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"goal": "hardwar"}, "did you mean 'hardware'"),
        ({"goal": "rccl", "drift": "5ppm"}, "skew and drift are for the goal hardware"),
        ({"goal": "hardware", "drift": "fast"}, "drift 'fast'; allowed"),
        ({"goal": "hardware", "drift": "-5ppm"}, "from 0 to less than 1"),
        ({"goal": "hardware", "run": "paced"}, "goals with run slotted"),
        ({"drift": "5ppm"}, "a drift is for the goal hardware"),
    ],
)
def test_bad_input(options, reason):
    with pytest.raises(InputError, match=reason):
        ct.synthesize("ring:4", size="4KiB", **options)


def test_every_goal_states_what_it_takes():
    assert [*load_goals()] == ["hardware", "model-check", "msccl-0.7.4", "mscclpp-0.9", "rccl"]
    assert aim_for("hardware", 1024, MULTITREE, None, None).wanted.drift == DRIFT


def test_the_command_states_the_price():
    asked = ["synthesize", "ring:4", "--method", "packing", "--size", "64KiB", "--for", "hardware"]
    report = json_of(*asked)
    assert report["compared"] == "for hardware (skew 20 cycles, drift 50 ppm)"
    assert report["compared_cycles"] == report["time_cycles"]
    assert report["fastest_cycles"] > 0
    assert report["skew_tolerance_cycles"] >= 20
    assert Fraction(report["drift_tolerance"]) > 0
    assert "without that goal" in certree(*asked).out.splitlines()[-1]
    assert_bad_input(certree("synthesize", "ring:4", "--for", "hardwar"), "did you mean 'hardware'")


@pytest.mark.parametrize(("goal", "asked"), [("rccl", {}), ("hardware", {"method": "packing", "skew": 30, "drift": "10ppm"})])
def test_workers_change_nothing(goal, asked):
    here, there = (ct.synthesize("ring:4", size="16KiB", goal=goal, workers=workers, seeds=2, **asked) for workers in (1, 2))
    assert here.digest == there.digest
    assert here.provenance == there.provenance
    assert here.provenance["fastest_cycles"] > 0
