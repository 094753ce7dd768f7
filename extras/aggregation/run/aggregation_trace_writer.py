"""Writes traces of reducing switches (`extras/aggregation/model/aggregation_traces.py`)."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certree.extras.aggregation.model.aggregation_traces import EVENTS, FORMAT, LEFT, SENDS, VERSION, WAYS
from certree.extras.aggregation.run.switch_trees import AggregationTrees
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import write_atomically
from certree.models.network.topology import NodeKind

MAX_CHILDREN = 64  # of one switch: arrivals are the bits of one word

#: time, event, is_up, edge, number, place works on, arrived, has_result, answer
Line = tuple[int, int, bool, int, int, int, int, bool, int]
#: the end of the run, and is_up, edge and number of each packet that is still in flight then
Left = tuple[int, Sequence[tuple[bool, int, int]]]


def check_traceable(trees: AggregationTrees) -> None:
    """Raise UnsupportedError where a switch has more children than a trace can hold."""
    most = int(np.bincount(trees.parent * len(trees.shares) + trees.flow).max())
    if most > MAX_CHILDREN:
        raise UnsupportedError(f"a switch of {most} children cannot be traced; the most is {MAX_CHILDREN}")


def write_aggregation_trace(
    path: Path,
    trees: AggregationTrees,
    packets: Sequence[int],
    window: int,
    places: int,
    lines: Sequence[Line],
    left: Left,
    *,
    force: bool,
) -> None:
    """Write the trace of a run, completely or not at all. O(lines · children)."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "flows": []}
    below: dict[tuple[int, int], list[int]] = {}
    for flow, child, parent in zip(trees.flow.tolist(), trees.child.tolist(), trees.parent.tolist(), strict=True):
        below.setdefault((flow, parent), []).append(child)
    for flow, count in enumerate(packets):
        edges = trees.flow == flow
        children, parents = trees.child[edges], trees.parent[edges]
        switches = np.unique(parents)
        document["flows"].append(
            {
                "packets": int(count),
                "window": min(window, int(count)),
                "places": places,
                "root": int(np.setdiff1d(switches, children)[0]),
                "hosts": children[trees.topology.kind[children] == NodeKind.ENDPOINT].tolist(),
                "switches": switches.tolist(),
                "parent": {str(a): b for a, b in zip(children.tolist(), parents.tolist(), strict=True)},
            }
        )
    texts = [json.dumps(document)]
    for line in lines:
        texts.append(json.dumps(_entry(line, trees, below)))
    end, in_flight = left
    for (is_up, edge, number), copies in sorted(Counter(in_flight).items()):
        at = {"cycle": end, "flow": int(trees.flow[edge]), "event": LEFT, "node": int(trees.child[edge]), "number": number}
        texts.append(json.dumps(at | {"way": WAYS[not is_up], "copies": copies}))
    write_atomically(path, ("\n".join(texts) + "\n").encode(), force=force)


def _entry(line: Line, trees: AggregationTrees, below: dict[tuple[int, int], list[int]]) -> dict[str, Any]:
    when, event, is_up, edge, number, works_on, arrived, has_result, answer = line
    flow, child, parent = int(trees.flow[edge]), int(trees.child[edge]), int(trees.parent[edge])
    entry: dict[str, Any] = {"cycle": when, "flow": flow, "event": EVENTS[event], "node": child, "number": number}
    if entry["event"] in ("lose", "copy"):
        entry["way"] = "up" if is_up else "down"
    if entry["event"] in ("add", "pass"):
        at = parent if entry["event"] == "add" else child
        children = [node for bit, node in enumerate(below[flow, at]) if arrived >> bit & 1]
        entry |= {"switch": at, "works_on": works_on, "arrived": children, "has_result": has_result, "sends": SENDS[answer]}
    return entry
