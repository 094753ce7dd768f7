"""Schedules as StableHLO and back: the collective of each, its root and members, and a valid schedule on its network."""

import importlib.util
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.runtimes.make.raising import schedule_of_program
from certree.extras.xla.check.hlo_checker import verify_hlo
from certree.extras.xla.make.lowered import ITEM_BYTES, lowered_module
from certree.extras.xla.model.hlo_reader import read_hlo
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.verify.checker import verify_schedule
from tests.end_to_end.composition.forms import FORMS
from tests.extras.runtimes.make.test_round_trips import METHODS, NETWORKS
from tests.synth.execution import make

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
ROOTED = ("broadcast", "reduce", "gather", "scatter")
REDUCING = ("reducing", "fine-reducing")  # a switch is no device


def assert_comes_back(schedule: Schedule) -> None:
    elements = 3 * schedule.message_chunks * schedule.repeats
    found = verify_hlo(read_hlo(lowered_module(schedule, elements * ITEM_BYTES), "m.mlir"))
    assert found.valid, found.verdict.violations[:1]
    asked = schedule.collective
    ranks = schedule.topology.rank
    assert found.layout.kind is asked.kind
    assert found.layout.root == (None if asked.root is None else int(ranks[asked.root]))
    members = None if asked.members is None else tuple(int(ranks[node]) for node in asked.members)
    assert found.layout.roles.members == members
    assert bool(found.layout.roles.blocks) == (asked.demand is not None)
    assert verify_schedule(schedule_of_program(found, schedule.topology, "stablehlo")).valid


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_and_collective(network: str, kind: str) -> None:
    assert_comes_back(written_out(make(METHODS[kind], network, kind, root=1 if kind in ROOTED else None)))


@pytest.mark.parametrize("form", [form for form in FORMS if form not in REDUCING])
def test_every_form(form: str, tmp_path: Path) -> None:
    FORMS[form].write(tmp_path)
    assert_comes_back(written_out(ct.load(tmp_path / "s.json")))
