"""What a schedule was made for: written and read exactly, refused when it is wrong, no part of the digest."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.quantities import MAX_SIZE
from certree.models.machine.machine import Machine, Router, load_machine
from certree.models.schedule.made_for import MadeFor, read_made_for
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document
from certree.models.schedule.symmetric.symmetric_file import (
    load_any_schedule,
    save_any_schedule,
    symmetric_document,
    symmetric_from_document,
)
from certree.models.schedule.unit_rounds import in_unit_rounds
from tests.models.examples import pair_all_reduce, ring_all_gather, turning
from tests.models.network.test_topology_file import changed

MULTITREE = load_machine("multitree")
#: no preset, and a name that is not what decides
OWN = dataclasses.replace(MULTITREE, clock_hz=3 * 10**9, ni_start_cycles=7, router=Router(flow_control="wormhole", datelines=False))
MADE_FOR = MadeFor(1 << 20, OWN)


@st.composite
def made_fors(draw):
    """Any size, any machine."""
    numbers = [entry.name for entry in dataclasses.fields(Machine) if entry.name not in ("name", "router")]
    router = Router(
        vc_cycles=draw(st.integers(0, 9)),
        vc_reuse=draw(st.sampled_from(["tail", "empty"])),
        datelines=draw(st.booleans()),
        sub_message_flits=draw(st.integers(1, 1 << 20)),
    )
    values = {name: draw(st.integers(1, 1 << 40)) for name in numbers}
    return MadeFor(draw(st.integers(1, MAX_SIZE)), Machine(name=draw(st.text(max_size=9)), router=router, **values))


@given(made_fors())
def test_any_size_and_machine_survive_the_document(made_for):
    assert read_made_for(Fields(json.loads(json.dumps(made_for.document())), "text")) == made_for


def test_symmetric_files_keep_it_and_so_does_what_is_written_out(tmp_path):
    made = dataclasses.replace(turning("ring:5"), made_for=MADE_FOR)
    save_any_schedule(made, tmp_path / "s.json")
    again = load_any_schedule(tmp_path / "s.json")
    assert again.made_for == again.written_out().made_for == MADE_FOR
    assert again.digest == turning("ring:5").digest


@pytest.mark.parametrize("made", [pair_all_reduce(period=2, repeats=5, delay=2), ring_all_gather(4)])
def test_made_for_is_no_part_of_the_digest(made):
    known = dataclasses.replace(made, made_for=MADE_FOR)
    assert known.digest == made.digest
    document = schedule_document(known)
    del document["made_for"]
    assert document == schedule_document(made)
    assert schedule_from_document(document, "old").made_for is None


def test_what_is_derived_from_a_schedule_keeps_it():
    made = dataclasses.replace(pair_all_reduce(rounds=[2, 3]), made_for=MADE_FOR)
    for derived in (in_unit_rounds(made), in_unit_rounds(made, 3), made.with_certificate(None)):
        assert derived.made_for == MADE_FOR


WRONG = [
    ([], None, "made_for is None; expected a table of fields"),
    ([], [], r"made_for is \[\]; expected a table of fields"),
    (["machine_name"], "multitree", "made_for: unknown field 'machine_name'; did you mean 'machine'. known: message_bytes"),
    *((["message_bytes"], value, "message_bytes is .*; allowed: whole numbers from 1 to 1125899906842624")
      for value in (0, -1, MAX_SIZE + 1, 1.0, True, "1MiB", None, [1], {})),
    (["machine"], "multitree", 'machine: no "format" field'),
    (["machine"], {}, 'machine: no "format" field'),
    (["machine", "format"], "certree-topology", "machine: format is 'certree-topology'; expected 'certree-machine'"),
    (["machine", "speed"], 1, "machine: unknown field 'speed'; known: name, "),
    (["machine", "router", "allocator"], {}, "router: allocator is {}; allowed: islip, separable"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "reason"), WRONG)
@pytest.mark.parametrize("form", ["schedule", "symmetric"])
def test_what_is_wrong_is_refused_by_name(form, path, value, reason):
    plain, write, read = {
        "schedule": (pair_all_reduce(), schedule_document, schedule_from_document),
        "symmetric": (turning("ring:5"), symmetric_document, symmetric_from_document),
    }[form]
    document = changed(write(dataclasses.replace(plain, made_for=MADE_FOR)), ["made_for", *path], value)
    with pytest.raises(InputError, match=reason) as caught:
        read(document, "s.json")
    assert str(caught.value).count("s.json") <= 1
