"""The seams every method shares: requests, monitors, options, the registry."""

import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import canonical_json
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind, parse_collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_file import schedule_document
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import (
    METHODS,
    Monitor,
    Request,
    flag,
    load_methods,
    read_options,
    require_collective,
    require_shape,
    whole_number,
)


def request(**fields: object) -> Request:
    base = {
        "topology": parse_topology("ring:4"),
        "collective": parse_collective("all-reduce"),
        "message_bytes": 1024,
        "machine": load_machine("multitree"),
    }
    return Request(**{**base, **fields})  # type: ignore[arg-type]


def one_hop() -> Schedule:
    columns = {name: np.zeros(1, np.int32) for name in ("chunk", "op", "step", "src")} | {"dst": np.ones(1, np.int32)}
    return make_schedule(parse_topology("ring:4"), parse_collective("all-reduce"), [-1], columns)


@pytest.mark.parametrize(
    ("name", "value"), [("message_bytes", 0), ("message_bytes", -5), ("chunks", 0), ("steps", 0), ("effort", 0), ("seed", -1)]
)
def test_numbers_out_of_range_are_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(InputError, match=f"{name} is {value}"):
        request(**{name: value})


def test_the_monitor_keeps_the_fewest_cycles_and_the_first_of_equals() -> None:
    monitor, first, second, third = Monitor(), one_hop(), one_hop(), one_hop()
    assert monitor.best is None
    monitor.offer(first, 10)
    monitor.offer(second, 10)
    assert monitor.best is first
    monitor.offer(third, 9)
    monitor.offer(first, 10)
    assert monitor.best is third


@pytest.mark.parametrize("name", ["ring", "packing", "symmetric", "retime", "auto"])
def test_what_every_method_makes_remembers_the_request(name: str) -> None:
    asked = request(message_bytes=5000)
    made = load_methods()[name](asked)
    assert made.made_for == MadeFor(5000, asked.machine)
    again = replace(asked, message_bytes=6000)
    assert again.remember(made).made_for == MadeFor(6000, asked.machine)
    assert (again.remember(made).digest == made.digest) is (made.slot_cycles is None)  # fine slots are for one size


def test_offering_a_candidate_times_it_at_the_requested_size() -> None:
    asked = request()
    schedule = asked.offer(one_hop())
    assert (schedule.digest, schedule.made_for) == (one_hop().digest, MadeFor(1024, asked.machine))
    assert asked.offer(schedule) is schedule
    assert asked.monitor.best is schedule
    machine = asked.machine
    ser = machine.head_flits + -(-1024 // machine.flit_bytes)
    path = 2 * machine.ni_cycles + 2 * machine.router_cycles + machine.link_latency_cycles
    quanta = -(-1024 // (machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles))
    assert asked.cycles(schedule) == ser + path + machine.reduce_start_cycles + quanta * machine.reduce_quantum_cycles


def test_a_monitor_expires_when_its_limit_has_passed() -> None:
    assert not Monitor().expired
    assert Monitor().remaining is None
    assert Monitor(time.monotonic()).expired
    assert Monitor(time.monotonic()).remaining == 0
    assert not Monitor.within(3600).expired


def test_reports_reach_the_sink() -> None:
    lines: list[str] = []
    Monitor(sink=lines.append).report("half way")
    assert lines == ["half way"]


KNOWN = {"wide": flag(False), "k": whole_number(None, 1, 9)}


def test_options_are_read_and_defaults_filled_in() -> None:
    assert read_options(request(options={"wide": "true"}), "m", KNOWN) == {"wide": True, "k": None}
    assert read_options(request(options={"k": "9"}), "m", KNOWN) == {"wide": False, "k": 9}


def test_an_unknown_option_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"m: unknown option 'depth'; known: k=1 to 9; wide=true or false"):
        read_options(request(options={"depth": "3"}), "m", KNOWN)


@pytest.mark.parametrize(("name", "text"), [("wide", "yes"), ("k", "0"), ("k", "10"), ("k", "-1"), ("k", "x"), ("k", "²")])
def test_a_bad_value_says_what_is_allowed(name: str, text: str) -> None:
    with pytest.raises(InputError, match=rf"m: option {name}='{text}'; allowed: "):
        read_options(request(options={name: text}), "m", KNOWN)


def test_what_a_method_does_not_cover_is_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedError, match="m does not make all-reduce; it makes all-gather"):
        require_collective(request(), "m", [CollectiveKind.ALL_GATHER])
    with pytest.raises(UnsupportedError, match="into 4 chunks; 3 were asked for"):
        require_shape(request(chunks=3), "m", 4, 6)
    with pytest.raises(UnsupportedError, match="takes 6 steps here; at most 5"):
        require_shape(request(steps=5), "m", 4, 6)
    require_shape(request(chunks=4, steps=6), "m", 4, 6)


def test_every_method_of_the_folder_is_found_and_described() -> None:
    assert load_methods() is METHODS
    assert all(line for _, line in METHODS.describe())


@pytest.mark.parametrize("name", list(load_methods()))
def test_same_request_same_bytes(name: str) -> None:
    """On the first of these that the method covers; the last one is for methods of groups."""
    specs = ("mesh:2x2", "switch:4,reducing=switches", "bigraph:2x4", "ring:3", "ace-alltoall:2x2", "dragonfly:7x3x2@1")
    everyone = ((spec, parse_collective(kind, 1 if kind in WITH_ONE_ROOT else None)) for spec in specs for kind in CollectiveKind)
    for spec, collective in (*everyone, ("mesh:2x3", Collective(CollectiveKind.ALL_REDUCE, None, (0, 1, 2)))):
        with suppress(UnsupportedError):
            first, second = (  # each has a monitor of its own: methods leave out what is not faster than its best so far
                canonical_json(schedule_document(written_out(load_methods()[name](asked))))
                for asked in (request(topology=parse_topology(spec), collective=collective, seed=3) for _ in range(2))
            )
            assert first == second
            return
    pytest.fail("covers none of them")
