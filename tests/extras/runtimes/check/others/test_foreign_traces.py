"""Chakra traces of other tools: the collective by its name, messages with one tag that waits order."""

from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.runtimes.model.chakra import Node, NodeType, Trace, written_chakra


def written(folder: Path, ordered: bool, name: str = "allreduce", **attributes: int) -> Path:
    """Two ranks exchange two messages with one tag: a block, and the sum of the other one."""
    for rank in (0, 1):
        nodes = []
        for number, (kind, side) in enumerate(((NodeType.SEND, "comm_dst"), (NodeType.RECEIVE, "comm_src")) * 2):
            waits = (number - 1,) if number and (ordered or number == 2) else ()
            size = {side: 1 - rank, "comm_size": 64, "comm_tag": 0}
            nodes.append(Node(number, f"{kind.name} {number}", kind, waits, attributes={**size}))
        data = written_chakra(Trace(nodes, attributes={"collective": name, **attributes}))
        (folder / f"two.{rank}.et").write_bytes(data)
    return folder


def test_messages_with_one_tag_in_the_order_of_waits(tmp_path: Path) -> None:
    found = ct.verify(written(tmp_path, ordered=True))
    assert found.valid
    assert (str(found.program.layout.kind), found.program.algorithm.messages) == ("all-reduce", 4)


def test_messages_that_no_waits_order(tmp_path: Path) -> None:
    found = ct.verify(written(tmp_path, ordered=False)).program.verdict
    assert found.counts == {"unmatched": 2}
    assert found.violations[0].message == "from rank 0 to rank 1 with tag 0: 2 messages with one tag that no waits order"


def test_another_collective_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ct.InputError, match="the collective is all-reduce, not all-gather"):
        ct.verify(written(tmp_path, ordered=True), collective="all-gather")


@pytest.mark.parametrize(("name", "attributes"), [("allsum", {}), ("allreduce", {"chunks": 2})])
def test_names_of_no_collective(tmp_path: Path, name: str, attributes: dict[str, int]) -> None:
    """Traces that state chunks are those of certree, which has other names."""
    with pytest.raises(ct.InputError, match=f"unknown collective '{name}'"):
        ct.verify(written(tmp_path, True, name, **attributes))
