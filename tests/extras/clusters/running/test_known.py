"""NCCL's algorithms by name: the same schedules as from a dump, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

import certree.api as ct
from certree.api import parsing
from certree.extras.clusters.running.known import KNOWN, boxes
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Request
from tests.cli.running import assert_bad_input, certree

DUMP = """<graphs version="1"><graph id="0" pattern="4" crossnic="0" nchannels="1"><channel>{gpus}</channel></graph>
<graph id="1" pattern="1" crossnic="0" nchannels="1"><channel>{gpus}</channel></graph></graphs>"""


def cells(network, size="1MiB", **asked):
    return ct.compare(network, sizes=[size], methods=["ring:channels=1"], run=None, **asked).cells


@pytest.mark.parametrize(
    ("network", "count"),
    [
        ("h100", 1),
        ("h100:4@switch", 4),
        ("h100:2", 2),
        ("nvl72", 1),
        ("full:6", 1),
        ("full-mesh:4x4", 1),
        ("switch:8", 1),
        ("h100:8@leaf4", 8),
    ],
)
def test_boxes(network, count):
    assert boxes(parse_topology(network)) == count


@pytest.mark.parametrize("kind", ["ring", "tree"])
def test_one_box_as_from_its_dump(kind, tmp_path):
    file = tmp_path / "graphs.xml"
    file.write_text(DUMP.format(gpus="".join(f'<gpu dev="{gpu}"/>' for gpu in range(8))))
    named, dumped, _ = cells("h100", baseline=[f"nccl-{kind}", f"{file}:{kind}"])
    assert named["valid"]
    names = ("method", "nccl_seconds", "nccl_protocol")
    assert {key: value for key, value in named.items() if key not in names} == {
        key: value for key, value in dumped.items() if key != "method"
    }


def test_rings_of_boxes_use_every_interface():
    """A channel enters a box at one GPU and leaves it at the one before: the load of all interfaces is the same."""
    (ring, *_) = cells("h100:2@switch", baseline="nccl-ring", size="64MiB")
    assert ring["valid"]
    assert Fraction(ring["bandwidth_time"]) == Fraction(2 * 15, 16) / (8 * 2)  # 8 interfaces of 2 units


def test_nvls_adds_in_switches():
    """No GPU adds anything up: every sum arrives at its owner, and leaves for all others, by way of the switch."""
    request = Request(parse_topology("h100,reducing=switches"), parsing.collective("all-reduce"), 65536, load_machine("h100"))
    made = KNOWN["nccl-nvls"](request)
    assert ct.verify(made).valid
    assert made.provenance["options"]["form"] == "pull"
    switch = int(np.flatnonzero(made.topology.kind == NodeKind.SWITCH)[0])
    assert set(made.dst[made.op == Op.REDUCE].tolist()) == {switch}


def test_what_the_model_of_nccl_predicts():
    """Computed by hand: LL128 takes 14 µs and 28 steps of 1.9 µs (the ring by turns of two sets), and 7/72 of the bytes over 18.4
    GB/s."""
    found, *_ = cells("h100", baseline="nccl-ring", size="64MiB")
    assert (found["steps"], found["nccl_protocol"]) == (28, "ll128")
    assert Fraction(found["nccl_seconds"]) == Fraction(14 + 28 * Fraction("1.9"), 10**6) + Fraction(7 * (64 << 20), 72) / Fraction(
        "18.4e9"
    )
    assert "nccl_seconds" not in cells("h100:2@switch", baseline="nccl-ring")[0]
    assert "nccl_seconds" not in cells("switch:8", baseline="nccl-ring")[0]


@pytest.mark.parametrize(
    ("network", "baseline", "reason"),
    [
        ("dgx1", "nccl-ring", "some GPUs of a box are nearer than others"),
        ("h100", "nccl-nvls", "no switch that can reduce"),
        ("h100:2", "nccl-ring", "no route from node"),
        ("h100:2@switch,without-node=3", "nccl-tree", "some GPUs of h100:2@switch are not there"),
    ],
)
def test_not_applicable(network, baseline, reason):
    assert reason in cells(network, baseline=baseline)[0]["not_applicable"]


def test_an_unknown_name():
    assert_bad_input(certree("compare", "h100", "--baseline", "nccl-rig", "--params", "h100"), "did you mean 'nccl-ring'")
