"""Symmetric schedules: the same verdict on base and group as written out, and every kind of fault is found."""

import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from certree.models.common.errors import ScheduleFormatError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.action import Action
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule
from certree.models.schedule.timing import schedule_cycles, slotted
from certree.verify import rule
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from certree.verify.rule import Stage, Subject
from tests.fuzz.forms import FORMS
from tests.models.examples import turning
from tests.synth.execution import make
from tests.synth.symmetric.test_symmetric import circulant, s4

KINDS = ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"]
FOLDED = {"form": "folded"}
MACHINE = load_machine("multitree")


def folded(topology, kind="all-gather", **fields) -> SymmetricSchedule:
    made = make(
        "flows" if kind == "all-to-all" else "symmetric", topology, kind, options={**FOLDED, **fields.pop("options", {})}, **fields
    )
    assert isinstance(made, SymmetricSchedule)
    return made


def cycles(schedule, size: int) -> int:
    plan, timing = slotted(schedule, size, MACHINE)
    return schedule_cycles(plan, timing, MACHINE)


def agree(schedule: SymmetricSchedule) -> bool:
    """The verdicts on base and group and on all transfers are the same, and so are bounds and times.

    Why something is missing in the end is told for some chunks only, so that may have another of its two names.
    """
    short, long = verify_schedule(schedule), verify_schedule(schedule.written_out())
    assert short.valid == long.valid
    assert set(short.counts) - {"missing", "causality"} == set(long.counts) - {"missing", "causality"}
    assert short.quality == long.quality
    if short.valid:
        assert [cycles(schedule, size) for size in (1, 1 << 16, 1 << 26)] == [
            cycles(schedule.written_out(), size) for size in (1, 1 << 16, 1 << 26)
        ]
    return short.valid


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("network", ["torus:3x3", "torus:4x6,capacity=2", "hypercube:3", "full:5", "ring:7", "circulant", "S4"])
def test_base_and_group_say_what_all_transfers_say(network, kind):
    topology = {"circulant": circulant(9, 1, 8, 2, 7), "S4": s4()}.get(network, network)
    assert agree(folded(topology, kind))
    assert agree(folded(topology, kind, options={"delay": "3"}))


@pytest.mark.parametrize("spec", ["torus:12x12", "torus:6x6x6"])
def test_large_ones_too(spec):
    assert agree(folded(spec, chunks=len(parse_topology(spec).kind)))


def test_a_thousand_nodes():
    schedule = folded("torus:32x32", chunks=1024)
    short, long = verify_schedule(schedule), verify_schedule(schedule.written_out())
    assert short.valid
    assert short.quality == long.quality
    assert cycles(schedule, 1 << 26) == cycles(schedule.written_out(), 1 << 26)


@pytest.mark.parametrize("network", ["torus:3x3", "ring:6", "S4"])
def test_mutants_of_the_base(network):
    """A changed row is found on the base just when it is found in what is written out, by the same rules."""
    topology = s4() if network == "S4" else parse_topology(network)
    seen = set()
    made = [folded(topology, kind, options={"delay": delay}) for kind, delay in zip(KINDS, "1212", strict=True)]
    for seed in range(60):
        rng = Random(seed)
        schedule = rng.choice(made)
        column = rng.choice(("step", "src", "dst", "op", "chunk"))
        values = getattr(schedule.base, column).copy()
        limit = {"step": schedule.steps, "op": 2, "chunk": schedule.base.chunks}.get(column, schedule.nodes)
        values[rng.randrange(len(values))] = rng.randrange(limit)
        mutant = replace(schedule, base=replace(schedule.base, **{column: values}))
        if not agree(mutant):
            seen |= set(verify_schedule(mutant).counts)
    assert seen >= {"link", "capacity", "missing"}


def test_the_capacity_of_a_link_is_that_of_its_images():
    schedule = turning("ring:5")
    assert verify_schedule(schedule).valid
    base = schedule.base
    mutant = replace(schedule, base=replace(base, step=np.where(base.src == 1, 0, base.step), rounds=np.ones(2, int)))
    (found,) = [violation for violation in verify_schedule(mutant).violations if violation.rule == "capacity"]
    assert found.message.startswith("step 0: link 0>1 and its images carry 2 transfers (capacity 1): images of row ")
    assert "0>1)" in found.message
    assert "1>2)" in found.message
    assert len(found.rows) == 2


def test_a_block_that_stops_on_its_path():
    """The last hop of a base block is left out: the block of every node is missing at its target, as on all transfers."""
    schedule = folded("torus:3x3", "all-to-all", options={"copies": "1"})
    base = schedule.base
    kept = ~((base.chunk == 3) & (base.dst == 4))
    assert base.chunk_target[3] == 4
    columns = {name: getattr(base, name)[kept] for name in ("chunk", "op", "step", "src", "dst", "route")}
    mutant = replace(schedule, base=replace(base, **columns))
    assert dict(verify_schedule(mutant).counts) == {"missing": 1}
    assert dict(verify_schedule(mutant.written_out()).counts) == {"missing": 9}


def test_a_tree_that_misses_a_node():
    schedule = turning("ring:5")
    base = schedule.base
    kept = base.dst != 3
    columns = {name: getattr(base, name)[kept] for name in ("chunk", "op", "step", "src", "dst", "route")}
    verdict = verify_schedule(replace(schedule, base=replace(base, **columns)))
    assert dict(verdict.counts) == {"missing": 1}
    assert "node 3 has no copy of chunk 0 of node 0" in verdict.violations[0].message


def reflection() -> np.ndarray:
    """An automorphism of torus:4x4; with the shifts there are twice as many as there are nodes."""
    r, c = np.divmod(np.arange(16), 4)
    return (-r % 4) * 4 + c


@pytest.mark.parametrize(
    ("change", "broken", "words"),
    [
        (lambda moves: np.array([*moves, reflection()]), "regular", "action: two elements, one of them by generator .* to nodes"),
        (lambda moves: moves[:1], "regular", "action: no element takes node 0 to node 1; a group needs one for each node$"),
        (lambda moves: Action.of_box([16]).moves, "automorphism",
         "action: generator 0 takes the link 0>3 to 1>4: there is no such link in torus:4x4$"),
    ],
)  # fmt: skip
def test_an_action_that_is_no_regular_group_of_automorphisms(change, broken, words):
    schedule = folded("torus:4x4")
    verdict = verify_schedule(replace(schedule, action=Action(change(schedule.action.moves))))
    assert (verdict.valid, verdict.quality, list(verdict.counts)) == (False, None, [broken])
    assert re.match(words, verdict.violations[0].message)


def test_fine_slots_of_a_group_that_is_none():
    """They are checked on all transfers, which nobody can write out: the verdict names the group."""
    schedule = FORMS["symmetric-fine"]()
    assert verify_schedule(schedule).valid
    wrong = replace(schedule, action=Action(np.array([[0, 3, 2, 1]])), certificate=None)
    assert list(verify_schedule(wrong).counts) == ["regular"]


def test_checks_of_all_transfers(monkeypatch):
    """A check that needs more than the base gets all transfers; none where the action is no group, as there are no images."""
    shown = []
    entry = rule.Check(lambda schedule, _: shown.append(schedule.transfers), Subject.SCHEDULES, Stage.FURTHER, base_suffices=False)
    monkeypatch.setattr(rule, "_CHECKS", [*rule._CHECKS, entry])
    schedule = folded("torus:4x4")
    assert verify_schedule(schedule).valid
    assert shown == [schedule.transfers]
    assert list(verify_schedule(replace(schedule, action=Action(schedule.action.moves[:1]))).counts) == ["regular"]
    assert len(shown) == 1


def test_another_group_that_fits():
    """On a ring of 6 the turns by two and the reflections across edges take node 0 to each node once."""
    schedule, node = turning("ring:6"), np.arange(6)
    assert agree(replace(schedule, action=Action(np.array([(node + 2) % 6, (1 - node) % 6]))))


@pytest.mark.parametrize("column", ["capacity", "latency"])
def test_links_that_differ_in_width_or_latency(column):
    schedule = turning("ring:5")
    values = getattr(schedule.topology, column).copy()
    values[3] = 7
    topology = replace(schedule.topology, **{column: values})
    verdict = verify_schedule(replace(schedule, base=replace(schedule.base, topology=topology)))
    assert dict(verdict.counts) == {"automorphism": 1}
    assert "it differs in capacity or latency" in verdict.violations[0].message


def test_the_certificate_is_checked():
    schedule = folded("torus:4x6")
    certified = schedule.with_certificate(make_certificate(schedule, []))
    assert verify_schedule(certified).valid
    other = folded("torus:4x6", seed=5).with_certificate(certified.certificate)
    assert set(verify_schedule(other).counts) == {"certificate-schedule"}
    assert schedule.digest != replace(schedule, action=Action(schedule.action.moves[::-1])).digest


def test_the_network_asked_for():
    assert set(verify_schedule(turning("ring:5"), topology=parse_topology("ring:6")).counts) == {"topology"}


def test_what_has_no_such_form_is_refused():
    scatter = folded("ring:5", "all-to-all", options={"copies": "1"}).base
    turned_targets = replace(scatter, chunk_target=np.roll(scatter.chunk_target, -1))
    base, action = turning("ring:5").base, Action.of_box([5])
    for wrong, words in (
        ({"base": replace(base, rounds=np.full(2, 2))}, "steps of one round"),
        ({"base": replace(base, period=1, repeats=3)}, "no period"),
        ({"action": Action.of_box([6])}, "the action is on 6 nodes; the network has 5"),
        ({"base": make("binomial", "ring:5", "broadcast", root=2)}, "base is a broadcast from node 2"),
        (
            {"base": turned_targets},
            "base chunk 0 of 4 is for node 2; allowed: chunks for nodes 1 to 4 in turn, equally many for each",
        ),
    ):
        with pytest.raises(ScheduleFormatError, match=words):
            SymmetricSchedule(**({"base": base, "action": action} | wrong))
    for moves, words in (
        ([[0, 1, 1]], "takes several nodes to node 1"),
        ([[0, 1, 3]], "generator 0 row 2: 3; allowed: 0 to 2"),
        ([], "shape"),
    ):
        with pytest.raises(ScheduleFormatError, match=words):
            Action(np.array(moves, np.int32))


def test_what_is_too_large_to_write_out():
    schedule = folded("torus:60x60", chunks=3600, options={"delay": "1"})
    assert verify_schedule(schedule).valid
    with pytest.raises(UnsupportedError, match="12956400 transfers, stored as 3599 and images; at most 8388608 are written out"):
        schedule.written_out()
    assert isinstance(schedule.timed, Schedule)
