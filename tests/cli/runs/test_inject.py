"""`certree inject`."""

from fractions import Fraction

import pytest

from tests.cli.artefacts import changed
from tests.cli.running import certree, json_of

PACKETS = "id,src,dst,flits,start\n7,0,1,17,0\n3,18,22,17,1000\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "packets.csv"
    path.write_text(PACKETS)
    return path


def test_packets_from_a_file(file):
    document = json_of("inject", "mesh:8x8", "--packets", file, "--params", "booksim2")
    assert document["packets"] == [{"id": 7, "head": 12, "tail": 28}, {"id": 3, "head": 1027, "tail": 1043}]
    assert (document["cycles"], document["flit_hops"], document["deadlock"]) == (1043, 5 * 17, [])
    words = certree("inject", "mesh:8x8", "--packets", file, "--params", "booksim2").out
    assert "packet 7: head 12, tail 28" in words


def test_multitree_is_the_machine_by_default(file):
    assert json_of("inject", "torus:8x8", "--packets", file)["packets"][0] == {"id": 7, "head": 159, "tail": 175}


def test_synthetic_traffic_records_its_seed():
    command = ["inject", "mesh:4x4", "--traffic", "uniform", "--load", "1/5", "--seed", "3", "--params", "booksim2"]
    first, again = certree(*command, "--json"), certree(*command, "--json")
    assert first.out == again.out
    document = first.document
    assert document["traffic"]["seed"] == 3
    assert 15 < Fraction(document["mean_latency"]) < 30
    assert "seed 3" in certree(*command).out
    hot = json_of("inject", "mesh:4x4", "--traffic", "hot-spot", "--hot-spot", "5:1/4", "--params", "booksim2")
    assert (hot["traffic"]["hot_spot"], hot["traffic"]["share"]) == (5, "1/4")


def small(tmp_path, channels):
    """Few and small buffers, and no datelines."""
    few = ("vc_count = 4", f"vc_count = {channels}"), ("vc_buffer_flits = 8", "vc_buffer_flits = 4")
    return changed(tmp_path, "models/machine/presets/booksim2.toml", *few, ("[router]", "[router]\ndatelines = false"))


def test_deadlock_is_a_failure_with_a_report(tmp_path):
    rows = [f"{round_ * 8 + node},{node},{(node + 3) % 8},40,0" for round_ in range(3) for node in range(8)]
    packets = tmp_path / "p.csv"
    packets.write_text("id,src,dst,flits,start\n" + "\n".join(rows) + "\n")
    asked = ("inject", "ring:8", "--packets", packets, "--params", small(tmp_path, 2))
    refused = certree(*asked)
    assert refused.code == 1
    assert "packets may deadlock on ring:8" in refused.err
    assert "0>1 (virtual channels 0, 1) and waits for 1>2" in refused.err
    document = json_of(*asked, "--allow-deadlock", code=1)
    assert document["deadlock"][-1] == "the last of these waits for the first"
    assert None in [packet["tail"] for packet in document["packets"]]


def test_waiting_while_others_pass_may_be_a_failure(tmp_path):
    packets = tmp_path / "p.csv"
    packets.write_text("id,src,dst,flits,start\n1,0,2,300,0\n900,1,2,1,40\n")
    asked = ("inject", "mesh:3x3", "--packets", packets, "--params", small(tmp_path, 1))
    assert "starved" not in json_of(*asked)
    assert certree(*asked, "--longest-wait", "5000").code == 0
    outcome = certree(*asked, "--longest-wait", "100")
    assert outcome.code == 1
    assert "  starved: packet 900 at node 1" in outcome.out
    assert json_of(*asked, "--longest-wait", "100", code=1)["starved"]
