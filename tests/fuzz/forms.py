"""Right files of every reader, and of every form of schedule, small enough to be read many times in a second."""

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import certree.api as ct
from certree.extras.runtimes.model.chakra import Trace, written_chakra
from certree.models.common.files import canonical_json
from certree.models.machine.machine import load_machine
from certree.models.network.action import Action
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from tests.extras.training.model.test_chakra_trace import backward
from tests.hw.fine import into_one
from tests.models.examples import turning
from tests.verify.build import COPY, build

#: a machine whose buffers hold whole messages
FOR = MadeFor(1 << 10, replace(load_machine("multitree"), vc_buffer_flits=1 << 10))
DEMAND = [[0, 64, 32, 0], [0, 0, 16, 16], [48, 0, 0, 16], [16, 16, 16, 0]]


def _made(network: str, collective: str = "all-reduce", size: str = "1KiB", **asked: object) -> Callable[[], AnySchedule]:
    return lambda: ct.synthesize(network, collective, size=size, **asked)  # type: ignore[arg-type]


def _buffers() -> Schedule:
    """A chunk goes both ways round a ring; nodes 0 and 1 keep it in a scratch buffer."""
    rows = "0>0 0>1; 0>3 1>1; 1>2"
    columns = {"src_buffer": [0, 0, 1, 0, 1], "dst_buffer": [1, 0, 0, 1, 0]}
    return build("ring:4", "broadcast", rows, roots=[0], collective_root=0, buffers=2, made_for=FOR, **columns)


def _symmetric_in_fine_slots() -> SymmetricSchedule:
    base = _buffers()
    base = replace(base, step=200 * base.step, rounds=[1] * 401, slot_cycles=1)
    return SymmetricSchedule(base, Action.of_box([4]), made_for=FOR)


#: routes of a ring of four nodes
_RING = ct.topology("ring:4")
_LINK = {ends: number for number, ends in enumerate(zip(_RING.src.tolist(), _RING.dst.tolist(), strict=True))}
_ROUTES = ((_LINK[0, 1], _LINK[1, 2]), (_LINK[0, 3], _LINK[3, 2]))


def _iterations_in_fine_slots() -> Schedule:
    """A broadcast of which one begins every 400 slots of 4 cycles."""
    return build(
        _RING, "broadcast", [(0, COPY, 0, 0, 2), (0, COPY, 0, 0, 3), (0, COPY, 60, 0, 1)], route=[0, -1, -1], routes=_ROUTES,
        collective_root=0, slot_cycles=4, period=400, repeats=5, made_for=FOR,
    )  # fmt: skip


def _rounds() -> Schedule:
    """A step of four rounds, over routes and single links."""
    rows = "0:0>2 1:0>2 0:0>1 1:0>1 0:0>3 1:0>3"
    return build(
        _RING, "broadcast", rows, route=[0, 1, -1, -1, -1, -1], routes=_ROUTES, collective_root=0, rounds=[4], made_for=FOR
    )  # fmt: skip


def _with_waits() -> Schedule:
    return next(made for seed in range(100) if (made := into_one(Random(seed))).waits is not None)


#: how a schedule of each form is made
FORMS: dict[str, Callable[[], AnySchedule]] = {
    "repeats": _made("mesh:2x2", size="64MiB", method="packing"),
    "algorithm": _made("mesh:2x2", method="multitree"),
    "rounds": _rounds,
    "fine": _made("mesh:2x2", size="4KiB", method="two-shot"),
    "fine-repeats": _iterations_in_fine_slots,
    "fine-widths": _made("mesh:2x2,capacity=2", size="4KiB", method="two-shot"),
    "buffers": _buffers,
    "members": lambda: ct.synthesize("mesh:2x3", ct.collective("all-reduce", members=[0, 1, 5]), size="1KiB"),
    "demand": lambda: ct.synthesize("ring:4", ct.collective("alltoallv", demand=ct.demand(DEMAND, "ring:4"))),
    "symmetric": lambda: turning("ring:5"),
    "symmetric-own": lambda: turning("ring:5", named=False),
    "symmetric-fine": _symmetric_in_fine_slots,
    "reducing": _made("switch:4,reducing=switches", method="in-switch"),
    "waits": _with_waits,
    "all-to-all": _made("mesh:2x2", "all-to-all"),
    "broadcast": _made("mesh:2x2", "broadcast", root=1),
    "gather": _made("mesh:2x2", "gather", root=1),
    "scatter": _made("mesh:1x3", "scatter", root=1),
    "reduce-scatter": _made("ring:4", "reduce-scatter", method="ring"),
    "proof": _made("ring:4", "all-gather", method="exact"),
    "optimum": lambda: ct.certify_exact(ct.synthesize("full:4", method="multitree", size="1KiB")).schedule,
    "switches": _made("fattree:2x2", method="packing"),
}
SCALE_SIM = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
SCALE_SIM += "Conv1, 224, 224, 11, 11, 3, 96, 4,\nFC6, 1, 1, 1, 1, 9216, 4096, 1,\n"
ASTRA = "DATA\n2\nconv1 -1 100 NONE 0 100 NONE 0 100 ALLREDUCE 4096 10\nfc -1 50 NONE 0 50 NONE 0 50 ALLREDUCE 8192 10\n"


def frontier() -> bytes:
    """A small frontier with its proofs."""
    return canonical_json(ct.frontier("ring:3", "all-gather", max_chunks=2).verdict.document)


def node_link() -> bytes:
    """A network as networkx writes it."""
    links = [{"source": a, "target": b, "capacity": 1} for a, b in ((0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2))]
    return json.dumps(
        {"directed": True, "multigraph": True, "graph": {}, "nodes": [{"id": n} for n in range(3)], "links": links}
    ).encode()


def small(collective: str) -> AnySchedule:
    """A schedule of three endpoints that runtimes execute."""
    methods = {"broadcast": "binomial", "all-to-all": "direct"}
    return ct.synthesize("full:3", collective, root=1 if collective == "broadcast" else None, method=methods[collective])


def training() -> bytes:
    """A Chakra trace of two layers."""
    return written_chakra(Trace(backward()))
