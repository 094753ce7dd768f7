"""Names of rows, links and nodes in the messages of the checkers."""

from collections.abc import Sequence

from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

NAMED = 8  # longer lists are cut short


def list_text(items: Sequence[object], joint: str = ", ") -> str:
    """The items, or the first few and the number of others."""
    text = joint.join(str(item) for item in items[:NAMED])
    return text if len(items) <= NAMED else f"{text}{joint.removesuffix('and ')}and {len(items) - NAMED} more"


def network_text(topology: Topology) -> str:
    """The name of a topology on one line, whatever name a file gives."""
    name = topology.name if len(topology.name) <= 200 else f"{topology.name[:190]}..."
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def contributions_text(nodes: Sequence[int]) -> str:
    """Contributions in words: `the contribution of node 3`, `the contributions of nodes 3, 5`."""
    plural = "s" if len(nodes) != 1 else ""
    return f"the contribution{plural} of node{plural} {list_text(nodes)}"


def row_text(schedule: Schedule, row: int) -> str:
    """A row in words: `row 17 (reduce of chunk 5, 3>4)`; with several buffers `row 17 (reduce of chunk 5, 3.0>4.1)`, from buffer 0
    into 1."""
    op = "reduce" if schedule.op[row] == Op.REDUCE else "copy"
    src, dst = str(schedule.src[row]), str(schedule.dst[row])
    if schedule.src_buffer is not None and schedule.dst_buffer is not None:
        src, dst = f"{src}.{schedule.src_buffer[row]}", f"{dst}.{schedule.dst_buffer[row]}"
    return f"row {row} ({op} of chunk {schedule.chunk[row]}, {src}>{dst})"


def buffer_text(schedule: Schedule, row: int, *, source: bool = False) -> str:
    """The destination of a row, or its source, in words: `node 4`, and `buffer 1 of node 4` where nodes have several."""
    node, buffer = (schedule.src, schedule.src_buffer) if source else (schedule.dst, schedule.dst_buffer)
    return f"node {node[row]}" if buffer is None else f"buffer {buffer[row]} of node {node[row]}"


def row_with_step(schedule: Schedule, row: int) -> str:
    """A row in words with its step: `row 17 (reduce of chunk 5, 3>4, step 2)`."""
    return f"{row_text(schedule, row)[:-1]}, step {schedule.step[row]})"
