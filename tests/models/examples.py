"""Small schedules and files that several tests start from."""

from dataclasses import replace

import numpy as np

from certree.models.network.action import Action
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule
from tests.transfers import transfers


def network(nodes, links, **fields):
    """A network of endpoints 0..nodes-1 with the given (src, dst[, capacity[, latency]]) links."""
    rows = np.array([(*link, 1, -1)[:4] if len(link) == 2 else (*link, -1)[:4] for link in links], np.int32).reshape(-1, 4)
    defaults = {"name": "test", "kind": np.full(nodes, NodeKind.ENDPOINT, np.int8)}
    return Topology(**(defaults | fields), src=rows[:, 0], dst=rows[:, 1], capacity=rows[:, 2], latency=rows[:, 3])


def schedule(topology, collective, roots, rows, **fields):
    """A schedule of (chunk, op, step, src, dst) rows or of `tests.transfers`, in canonical order; `route`: a column."""
    topology = parse_topology(topology) if isinstance(topology, str) else topology
    collective = parse_collective(collective) if isinstance(collective, str) else collective
    rows = np.array(transfers(rows) if isinstance(rows, str) else rows, np.int32).reshape(-1, 5)
    columns = dict(zip(("chunk", "op", "step", "src", "dst"), rows.T, strict=True))
    columns |= {"route": np.array(fields.pop("route"), np.int32)} if "route" in fields else {}
    return make_schedule(topology, collective, roots, columns, **fields)


def pair_all_reduce(**fields):
    """Two nodes; node 1 reduces into node 0, which copies back."""
    return schedule("ring:2", "all-reduce", [NO_ROOT], "1+0; 0>1", **fields)


def ring_all_gather(nodes):
    """Every node's chunk travels clockwise all the way round."""
    rows = [(c, 1, s, (c + s) % nodes, (c + s + 1) % nodes) for c in range(nodes) for s in range(nodes - 1)]
    return schedule(f"ring:{nodes}", "all-gather", range(nodes), rows)


def unit_columns(**columns):
    """Keyword arguments of the Schedule constructor for one valid row, with some columns replaced."""
    defaults = {"chunk": [0], "op": [1], "step": [0], "src": [0], "dst": [1], "route": [DIRECT], "rounds": [1], "chunk_root": [0]}
    return {name: value if isinstance(value, np.ndarray) else np.array(value) for name, value in (defaults | columns).items()}


def built(**columns):
    """A Schedule on ring:2 straight from the constructor."""
    fields = {name: columns.pop(name) for name in ("delay", "period", "repeats", "routes") if name in columns}
    return Schedule(parse_topology("ring:2"), parse_collective("all-gather"), **unit_columns(**columns), **fields)


def turning(spec, *, named=True):
    """A symmetric all-gather on a ring: node 0's chunk goes both ways round, the others' likewise."""
    topology = parse_topology(spec)
    nodes = len(topology.kind)
    rows = [(0, Op.COPY, hop, hop, hop + 1) for hop in range(nodes // 2)]
    rows += [(0, Op.COPY, hop, (nodes - hop) % nodes, nodes - hop - 1) for hop in range((nodes - 1) // 2)]
    if not named:
        topology = replace(topology, name="own")
    base = schedule(topology, parse_collective("broadcast", 0), [0], rows)
    action = Action.of_box([nodes])
    return SymmetricSchedule(base, action if named else Action(action.moves))
