"""The system `ideal` bounds ACE: no collective takes longer when the endpoints cost nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import certree.api as ct
from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.endpoint_run import run_endpoints
from certree.extras.endpoints.run.ideal import run_system
from certree.models.common.errors import MachineError
from tests.hw.made import made

MIB = 1 << 20
ACE = load_endpoint("ace")
PLATFORMS = ("ace-torus:2x2x1", "ace-torus:2x2x2", "ace-torus:4x2x1", "ace-torus:2x3x2", "ace-alltoall:4x2", "ace-alltoall:2x3")
OTHERS = ("ring:4", "ring:5", "torus:3x3", "mesh:2x3", "full:5", "hypercube:3")
METHODS = {
    "all-reduce": ("hierarchical", "ring", "multitree"),
    "all-gather": ("ring", "multitree"),
    "reduce-scatter": ("ring", "multitree"),
    "all-to-all": ("hierarchical-all-to-all", "tree-all-to-all"),
}


@given(st.data())
def test_ideal_is_never_slower_than_ace(data: st.DataObject) -> None:
    network = data.draw(st.sampled_from(PLATFORMS + OTHERS))
    collective = data.draw(st.sampled_from(sorted(METHODS)))
    own = network in PLATFORMS
    method = data.draw(st.sampled_from([name for name in METHODS[collective] if own or not name.startswith("hierarchical")]))
    size = int(2 ** data.draw(st.floats(10, 20)))
    ace, ideal = ct.endpoints(
        network, collective, method=method, payloads=[size], systems=["ace", "ideal"], program="messages"
    ).results
    assert ace.data_ok
    assert ideal.data_ok
    assert ideal.cycles <= ace.cycles


@pytest.mark.parametrize("network", ["ace-alltoall:4x2", "ace-alltoall:4x4", "ace-torus:4x2x2", "torus:4x4"])
@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all"])
def test_ideal_bounds_ace_where_larger_chunks_did_not(network: str, collective: str) -> None:
    for size in ("64KiB", "200KB", "1MiB"):
        ace, ideal = ct.endpoints(network, collective, payloads=[size], systems=["ace", "ideal"], program="messages").results
        assert ideal.cycles <= ace.cycles


def test_each_of_the_choices_is_needed_somewhere() -> None:
    """Without ACE's messages, and without fewer chunks at a time, `ideal` would be slower than ACE."""
    schedule = made("hierarchical-all-to-all", "ace-alltoall:4x2", MIB, collective="all-to-all")
    own, ace = ACE.system("ideal"), ACE.system("ace")
    payloads, choices = [Payload(MIB)], Choices()
    bound = run_system(schedule, ACE, own, payloads, choices).cycles
    engine = run_endpoints(schedule, ACE, ace, payloads, choices).cycles
    assert bound < engine < run_endpoints(schedule, ACE, own, payloads, choices).cycles


def test_a_chunk_that_is_asked_for_is_the_only_one() -> None:
    schedule = ct.endpoints("ace-alltoall:4x2", "all-to-all", payloads=["1MiB"], systems=["ideal"], chunk="128KiB")
    assert [result.chunk_bytes for result in schedule.results] == [128 << 10]


def test_a_system_bounds_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = (Path(ct.__file__).parents[1] / "extras/endpoints/model/presets/ace.toml").read_text()
    path.write_text(text.replace('bounds = "ace"', 'bounds = "dpu"'))
    with pytest.raises(MachineError, match=r"unknown system 'dpu'"):
        load_endpoint(str(path))
