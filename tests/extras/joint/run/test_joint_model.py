"""Model checks of joint schedules: right ones hold, and rows of one collective that take another one's part are found."""

from dataclasses import replace

import pytest

import certree.api as ct
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run import joint_constants, joint_model
from certree.extras.joint.run.joint_constants import JointModel
from certree.extras.joint.run.joint_model import model_check_joint, model_check_joint_tables
from certree.extras.joint.run.joint_rows import tables_of
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import load_machine
from tests.extras.joint.small_joint import small


def pair() -> JointSchedule:
    """Two nodes, two broadcasts with messages of different lengths, one after the other."""
    of = ct.collective
    return joint("ring:3", [Entry("a", of("broadcast", 0), 64), Entry("b", of("broadcast", 0), 256, after=("a",))])


def test_rows_of_all_are_in_the_tables():
    """Each row once, in the order of cycles, with its tag; messages of each collective have their length."""
    made = small()
    model = JointModel(made, tables_of(made))
    texts = model.generated.tables
    rows = sum(len(plan.tables.node) for plan in model.plans)
    assert texts["Table"].count("[op |->") == texts["Program"].count("[row |->") == rows
    assert [texts["RowTag"].count(f"{tag}") >= len(plan.tables.node) for tag, plan in enumerate(model.plans)] == [True] * 4
    assert texts["Length"] == " @@\n  ".join(f"({tag} :> {plan.timing.ser})" for tag, plan in enumerate(model.plans))
    assert len({plan.timing.ser for plan in model.plans}) > 1
    place = {part.name: tag for tag, part in enumerate(made.parts)}
    assert f"({place['copies']} :> {{{place['sum']}}})" in texts["After"]


def test_right_ones_hold():
    (found,) = ct.model_check(schedule=pair())  # type: ignore[arg-type]  # as the path of its file
    assert (found.result, found.mode, found.message) == ("success", "exhaustive", "all states")
    assert found.name == "tables of 2 collectives on ring:3"


def test_tags_exchanged(monkeypatch):
    """A row marks its message with the tag of the other collective: its data would go there."""
    right = JointModel._written

    def exchanged(self):
        texts = right(self)
        return texts | {"RowTag": texts["RowTag"].replace("<<0, 1>>", "<<1, 0>>")}

    monkeypatch.setattr(JointModel, "_written", exchanged)
    found = model_check_joint(pair())
    assert found.result == "safety"
    assert found.message.startswith("KeptApart: node 0, row 0 (GATHER of chunk 0 of a to node ")
    assert "brings data of one collective to another" in found.message


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("size", 64, "size: not for a joint schedule, which has a size for each collective"),
        ("machine", "a100", "machine: not for a joint schedule, which names its machine"),
        ("machine", load_machine("a100"), "machine: not for a joint schedule, which names its machine"),
        ("run", "paced", "run is 'paced'; allowed for a joint schedule: slotted"),
        ("flow", "packet", "flow is 'packet'; allowed for a joint schedule: message"),
        ("trace", "t.json", "trace: not for a joint schedule"),
    ],
)
def test_refusals(name, value, words):
    with pytest.raises(InputError, match=f"^{words}$"):
        ct.model_check(schedule=small(), **{name: value})  # type: ignore[arg-type]


def test_sums_that_meet_in_a_unit():
    """Sums of two collectives come to the unit of a node at once: TLC says so, as `verify` does."""
    of = ct.collective
    made = joint("ring:3", [Entry("a", of("reduce", 0, members=[0, 1]), 256), Entry("b", of("reduce", 0, members=[0, 2]), 256)])
    parts = tuple(replace(part, begin=0) for part in made.parts)
    assert len({part.begin for part in made.parts}) > 1
    met = replace(made, parts=parts)
    assert [one.rule for one in ct.verify_joint(met).violations] == ["joint-unit"]
    found = model_check_joint_tables(met)
    assert (found.result, found.message.split(":")[0]) == ("safety", "UnitsApart")
    assert "comes to a reduction unit that has a sum of another collective" in found.message


def test_names_in_place_of_numbers():
    made = pair()
    told = joint_model._named(made, "chunk 0 of collective 1\nx of collective 0, of collective 10")
    assert told == "chunk 0 of b\nx of a, of collective 10"


def test_too_large(monkeypatch):
    monkeypatch.setattr(joint_constants, "MAX_COUNTERS", 100)
    with pytest.raises(UnsupportedError, match=r"4 nodes and \d+ chunks in \d buffers are too many for TLC: \d+ counters"):
        model_check_joint(small())


def test_four_collectives():
    found = model_check_joint(small())
    assert (found.result, found.mode, found.message) == ("success", "exhaustive", "all states")


def test_a_collective_that_begins_too_early():
    """The one that waits begins as soon as the one before it: TLC says which, as `verify` does."""
    made = pair()
    parts = (made.parts[0], replace(made.parts[1], begin=0))
    found = model_check_joint_tables(replace(made, parts=parts))
    assert found.result == "safety"
    assert found.message.split(":")[0] in ("SendsAfterOthers", "NoBusyPort", "NothingMeets")


def test_no_answer_in_time(monkeypatch):
    """What is too large is told before it starts, and stands in the result."""
    monkeypatch.setattr(joint_constants, "PROMISES_WORK", 0)
    told = []
    found = model_check_joint_tables(small(), 0.01, told.append)
    model = JointModel(small(), tables_of(small()))
    rows = sum(len(tables.node) for tables in tables_of(small()))
    size = f"{rows} rows, {model.messages} messages, {model.counters:,} counters in a state"
    assert told == [f"TLC looks at all states of {size}; at most 0 s"]
    assert (found.result, found.mode, found.message) == ("unknown", "exhaustive", f"no answer within 0 s; {size}")
