"""Parameters of endpoints: the preset has the paper's figures; wrong files say what is wrong."""

import tomllib
from fractions import Fraction
from importlib import resources
from typing import Any

import pytest

from certree.extras.endpoints.model.endpoint import ENDPOINTS, FORMAT, VERSION, Endpoint, Runs, endpoint_of_document, load_endpoint
from certree.models.common.errors import InputError, MachineError
from certree.models.common.fields import Fields
from tests.models.network.test_topology_file import changed


def document() -> dict[str, Any]:
    return tomllib.loads((resources.files("certree.extras.endpoints.model") / "presets" / "ace.toml").read_text())


def test_the_preset_has_the_sums_of_table_6() -> None:
    ace = load_endpoint("ace")
    assert ace.square_micrometres == 5339031
    assert round(ace.watts * 1000) == 4255
    assert [system.name for system in ace.systems] == ["baseline", "baseline++", "ace", "ideal"]
    assert ace.system("ace").runs is Runs.ENGINE
    better = ace.system("baseline++")
    assert better.memory_bytes_per_second is not None
    # What baseline++ leaves for training is what ACE leaves.
    left = ace.buses.memory_bytes_per_second * (1 - ace.system("ace").memory_share)
    assert better.memory_bytes_per_second * (1 - better.memory_share) == left


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("engine", "alus"), 0, "alus is 0; allowed: whole numbers from 1"),
        (("engine",), {"alus": 1}, "engine: .* are missing"),
        (("buses", "gap_cycles"), -1, "gap_cycles is -1; allowed: whole numbers from 0"),
        (("intra_package", "efficiency"), "0", "efficiency is '0'; expected a string such as"),
        (("systems", 0, "runs"), "dpu", "systems 1: runs is 'dpu'; allowed: accelerator, engine, ideal"),
        (("systems", 1, "chunk_bytes"), "64KiB", "systems 2: chunk_bytes is '64KiB'; allowed: whole numbers"),
        (("systems",), [], "systems is \\[\\]; expected a list of 1 or more tables"),
        (("sram",), 1, "unknown field 'sram'; known: name, interface, "),
        (("name",), 1, "name is 1; expected a string"),
    ],
)
def test_wrong_fields_are_named(path: tuple[Any, ...], value: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Fields.of_format(changed(document(), path, value), FORMAT, VERSION, "mine.toml", MachineError).read(Endpoint)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=f"unknown endpoint 'acme'; did you mean 'ace'. known: {', '.join(ENDPOINTS.names())}, or a file ending in"
    ):
        load_endpoint("acme")
    with pytest.raises(InputError, match=r"unknown system 'dpu'; known: baseline, baseline\+\+, ace, ideal"):
        load_endpoint("ace").system("dpu")


def test_sizes_in_proportion_and_what_two_per_cent_imply() -> None:
    """SRAM and control unit grow with their sizes; the paper's "less than 2 %" is of accelerators of 267 mm² and 213 W or more."""
    ace = load_endpoint("ace")
    assert ace.sized() == ace
    small = ace.sized(sram_bytes=1 << 20, state_machines=4)
    assert small.square_micrometres == 4 * 16112 + Fraction(159803, 4) + Fraction(5113696, 4) + 1084
    assert small.engine.sram_bytes == 1 << 20
    wrong = changed(document(), ("components", 1, "grows_with"), "banks")
    with pytest.raises(MachineError, match="component control unit grows_with 'banks'; known: sram_bytes, state_machines"):
        endpoint_of_document(wrong, "wrong.toml")
    assert [round(50 * value) for value in (ace.square_micrometres / 10**6, ace.watts)] == [267, 213]
