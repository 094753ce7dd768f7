"""Machine parameters: the preset holds Table III, and files that are wrong are refused by field."""

import dataclasses
import json

import pytest

from certree.models.common.errors import InputError, MachineError, UnsupportedError
from certree.models.machine.machine import MACHINES, Machine, Router, load_machine, machine_from_document


def test_preset_multitree_is_table_iii():
    machine = load_machine("multitree")
    assert "multitree" in MACHINES.names()
    assert machine.clock_hz * machine.flit_bytes == 16 * 10**9  # 16 GB/s
    assert (machine.link_latency_cycles, machine.vc_count, machine.vc_buffer_flits) == (150, 4, 318)
    assert machine.packet_payload_bytes == 256


def text(**changes):
    document = {"format": "certree-machine", "version": 1} | load_machine("multitree").document() | changes
    router = document.pop("router")
    lines = [*entries(document), "[router]", *entries(router)]
    return "\n".join(lines)


def entries(table):
    """The lines of a TOML table; a field that is empty is left out."""
    return [f"{key} = {json.dumps(value)}" for key, value in table.items() if value != ""]


def test_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(text(name="mine", link_latency_cycles=0))
    assert load_machine(str(file)) == dataclasses.replace(load_machine("multitree"), name="mine", link_latency_cycles=0)


def test_document_round_trip():
    machine = load_machine("multitree")
    assert machine_from_document(machine.document(), "here") == machine


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("clock_hz = ", "is not TOML"),
        (b"\xff", "is not TOML"),
        ("a = 1\na = 2", "is not TOML"),
        ("", "no \"format\" field; expected 'certree-machine' version 1"),
        (text(format="booksim"), "format is 'booksim'"),
        (text(version=2), "version 2 cannot be read"),
        (text(version="true"), "version 'true' cannot be read"),
        (text(colour=1), "unknown field 'colour'; known: name, clock_hz, "),
        (text(clock_hz=""), "clock_hz is missing; known: "),
        (text(clock_hz=0), "clock_hz is 0; allowed: whole numbers from 1 to"),
        (text(flit_bytes=-16), "flit_bytes is -16; allowed: whole numbers from 1"),
        (text(flit_bytes=16.0), "flit_bytes is 16.0; allowed: whole numbers"),
        (text(flit_bytes="16"), "flit_bytes is '16'; allowed: whole numbers"),
        (text(link_latency_cycles=-1), "link_latency_cycles is -1; allowed: whole numbers from 0"),
        (text(reduce_bytes_per_cycle=0), "reduce_bytes_per_cycle is 0; allowed: whole numbers from 1"),
        (text(clock_hz=1 << 50), "allowed: whole numbers from 1 to 1099511627776"),
        (text(router={"colour": 1}), "router: unknown field 'colour'; known: vc_cycles, "),
        (text(router={"vc_cycles": -1}), "router: vc_cycles is -1; allowed: whole numbers from 0 to"),
        (text(router={"switch_cycles": 0}), "router: switch_cycles is 0; allowed: whole numbers from 1 to"),
        (text(router={"credit_cycles": 1.0}), "router: credit_cycles is 1.0; allowed: whole numbers"),
        (text(router={"allocator": "wavefront"}), "router: allocator is 'wavefront'; allowed: islip, separable"),
        (text(router={"flow_control": 1}), "router: flow_control is 1; allowed: cut-through, wormhole"),
        (text(router={"datelines": 1}), "router: datelines is 1; allowed: true, false"),
        (text(router={}).replace("[router]", "router = 3"), "router is 3; expected a table of fields"),
        (text().replace("vc_count = 4", "vc_count = true"), "vc_count is True; allowed"),
        (text().replace('name = "multitree"', "name = 3"), "name is 3; expected a string"),
    ],
)
def test_bad_file(tmp_path, content, reason):
    file = tmp_path / "bad.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        load_machine(str(file))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_preset_lists_the_known_ones():
    with pytest.raises(MachineError, match=r"unknown machine 'dgx'; known: .*multitree.*, or a file ending in .toml"):
        load_machine("dgx")
    with pytest.raises(MachineError, match=r"unknown machine 'multitre'; did you mean 'multitree'\? known: "):
        load_machine("multitre")
    with pytest.raises(InputError, match=r"cannot read none.toml: No such file"):
        load_machine("none.toml")


def test_every_number_is_checked():
    """Each whole-number field refuses what is not a whole number."""
    values = load_machine("multitree").document()
    for name in values.keys() - {"name", "router"}:
        for bad in (-1, 1.0, None, True):
            with pytest.raises(MachineError, match=f"{name} is"):
                Machine(**(values | {name: bad}))


def test_a_router_may_be_left_out_or_given_in_part(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(text().partition("[router]")[0] + "[router]\nvc_cycles = 2\n")
    assert load_machine(str(file)).router == Router(vc_cycles=2)
    file.write_text(text().partition("[router]")[0])
    assert load_machine(str(file)).router == Router()


@pytest.mark.parametrize(
    ("router", "cycles", "stages"),
    [
        (Router(), 4, (1, 1, 1, 1)),
        (Router(), 3, (0, 1, 1, 1)),
        (Router(), 2, (0, 0, 1, 1)),
        (Router(), 1, (0, 0, 1, 0)),
        (Router(vc_cycles=2), 4, (0, 2, 1, 1)),
        (Router(vc_cycles=0, traversal_cycles=2), 7, (4, 0, 1, 2)),
    ],
)
def test_pipeline_stages(router, cycles, stages):
    assert router.stages(cycles) == stages
    assert sum(stages) == cycles


@pytest.mark.parametrize(("router", "cycles"), [(Router(), 0), (Router(vc_cycles=2), 3), (Router(switch_cycles=4), 3)])
def test_pipelines_that_are_too_short(router, cycles):
    with pytest.raises(UnsupportedError, match=rf"a router of {cycles} cycle\(s\) has no room"):
        router.stages(cycles)
