"""Workloads of Chakra traces: what waits for what, and damaged traces."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.runtimes.model.chakra import CollectiveType, Node, NodeType, Trace, written_chakra
from certree.extras.training.model.chakra_trace import trace_workload
from certree.extras.training.model.workload import Act
from certree.extras.training.model.workload_file import load_workload, workload_document
from certree.models.common.errors import InputError

MIB = 1 << 20


def computed(number: int, microseconds: int, *waits: int) -> Node:
    return Node(number, f"compute {number}", NodeType.COMPUTE, waits, duration=microseconds)


def collective(number: int, size: int, *waits: int, kind: int = CollectiveType.ALL_REDUCE, **more: str) -> Node:
    return Node(
        number, f"collective {number}", NodeType.COLLECTIVE, waits, attributes={"comm_type": kind, "comm_size": size, **more}
    )


def backward() -> list[Node]:
    """Two layers backward: the gradients of the first are summed while the second computes; the update waits for both."""
    return [
        computed(0, 300), collective(1, MIB, 0), computed(2, 500, 0), collective(3, MIB // 4, 2), computed(4, 40, 1, 3),
    ]  # fmt: skip


def test_collectives_overlap_with_what_does_not_wait_for_them(tmp_path: Path) -> None:
    path = tmp_path / "train.0.et"
    path.write_bytes(written_chakra(Trace(backward())))
    run = ct.train(str(path), "ring:4", method="ring", iterations=1)
    one, other = (run.training.collectives[number] for number in (0, 1))
    assert (one.asked, other.asked) == (Fraction(300, 10**6), Fraction(800, 10**6))
    assert one.ended is not None
    assert other.ended is not None
    assert run.seconds == max(Fraction(800, 10**6), one.ended, other.ended) + Fraction(40, 10**6)
    assert run.compute_seconds == Fraction(840, 10**6)
    two = ct.train(str(path), "ring:4", method="ring", iterations=2)
    assert two.seconds == 2 * run.seconds


def test_the_order_is_that_of_the_file_as_far_as_waits_allow() -> None:
    nodes = [computed(0, 1, 5), computed(1, 2), collective(5, 64, 1), computed(7, 3)]
    workload = trace_workload(Trace(nodes), "trace", "trace")
    assert [layer.name for layer in workload.layers] == ["compute 1", "collective 5", "compute 0", "compute 7"]
    assert workload.acts == ((Act.COMPUTE, 0), (Act.ASK, 1), (Act.WAIT, 1), (Act.COMPUTE, 2), (Act.COMPUTE, 3))


def test_what_nothing_waits_for_ends_with_the_iteration() -> None:
    workload = trace_workload(Trace([computed(0, 5), collective(1, 64, 0, pg_name="tensor")]), "trace", "trace")
    assert workload.acts[-1] == (Act.WAIT, 1)
    assert [found.group for found in workload.communications()] == ["tensor"]


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([Node(0, "send", NodeType.SEND)], "t.et: node 0 ('send') has type SEND; a trace of training has"),
        ([computed(0, 0)], "duration is 0 microseconds; allowed: 1 to"),
        ([collective(0, 8, kind=CollectiveType.BARRIER)], "comm_type is 9 (BARRIER); allowed: 0 (ALL_REDUCE)"),
        ([collective(0, 8, kind=12)], "comm_type is 12; allowed: 0 to 9"),
        ([collective(0, 0)], "comm_size is 0; allowed: 1 to"),
        ([computed(0, 1, 3)], "node 0 ('compute 0') waits for node 3, which is not there"),
        ([computed(0, 1, 1), computed(1, 1, 0)], "waits for itself, in a circle"),
        ([Node(0, "facts", NodeType.METADATA)], "no node computes or communicates"),
    ],
)
def test_traces_that_are_no_training(nodes: list[Node], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        trace_workload(Trace(nodes), "t", "t.et")


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "train.0.et"
    path.write_bytes(written_chakra(Trace(backward()))[:-3])
    with pytest.raises(InputError, match=r"train\.0\.et: byte \d+: a message of") as caught:
        load_workload(str(path))
    assert "\n" not in str(caught.value)


def test_what_a_trace_does_not_have() -> None:
    workload = trace_workload(Trace(backward()), "trace", "trace")
    with pytest.raises(InputError, match="leave no-overlap out"):
        ct.train(workload, "ring:4", method="ring", overlap=False)
    with pytest.raises(InputError, match="has no file of its own"):
        workload_document(workload)
