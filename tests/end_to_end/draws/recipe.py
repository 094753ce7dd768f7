"""What a draw is made of: plain values, which a test can state, and the schedule and machine that they mean."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from random import Random
from typing import Any

from certree.models.common.errors import InputError
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import slotted
from certree.synth.method import Request, load_methods
from tests.verify.deadlock.drawn import Cabling, drawn_cabling

NETWORKS = (
    "ring:3", "ring:5", "ring:6", "mesh:2x2", "mesh:2x3", "mesh:3x3", "torus:3x3", "torus:4x4", "torus:2x4", "hypercube:3",
    "full:4", "switch:4", "switch:6", "fattree:2x2", "fattree:2x4", "leafspine:3x2x2", "bigraph:2x4", "tree:2+3", "dgx1",
    "cayley:10@1+3", "torus:3x3,without-link=0-1", "mesh:3x3,without-link=0-1", "ring:4,capacity=2", "torus:3x4,without-node=5",
)  # fmt: skip
METHODS = (
    "multitree", "direct", "cps", "ring", "recursive-doubling", "halving-doubling", "binomial", "double-binary-tree", "packing",
    "reduce-broadcast", "flows", "ring-2d", "blueconnect", "hierarchical",
)  # fmt: skip
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all")
MOST_ENDPOINTS = 12
LONG_METHODS = {"packing": 0.1}  # how many of the draws of a method that takes long are kept


@dataclass(frozen=True)
class Recipe:
    """A draw as plain values.

    `network`: a name, or random switches. `machine` and `router`: fields in which the machine differs from multitree. `skew`:
    cycles by which each node starts late, 0 beyond the end.
    """

    network: str | Cabling
    method: str
    collective: str
    root: int | None
    size: int
    seed: int
    machine: tuple[tuple[str, int], ...] = ()
    router: tuple[tuple[str, str | int | bool], ...] = ()
    skew: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """One line, for messages."""
        return f"{self.method} {self.collective} on {self.topology.name}, {self.size} bytes"

    @cached_property
    def topology(self) -> Topology:
        """The network."""
        return parse_topology(self.network) if isinstance(self.network, str) else self.network.topology()

    @cached_property
    def used_machine(self) -> Machine:
        """The machine."""
        known = load_machine("multitree")
        numbers: dict[str, Any] = dict(self.machine)
        return replace(known, name="drawn", router=replace(known.router, **dict(self.router)), **numbers)  # type: ignore[arg-type]

    @cached_property
    def schedule(self) -> Schedule:
        """What the method makes; InputError where it makes none that can run in slots."""
        request = Request(self.topology, parse_collective(self.collective, self.root), self.size, self.used_machine, seed=self.seed)
        made = written_out(load_methods()[self.method](request))
        slotted(made, self.size, self.used_machine)
        return made

    @property
    def clocks(self) -> Clocks:
        """Clocks that start apart."""
        nodes = len(self.topology.kind)
        return replace(Clocks.equal(nodes), skew=(self.skew + (0,) * nodes)[:nodes])

    def entry(self) -> str:
        """The recipe as an entry of a list in a test; fields with their defaults are left out."""
        parts = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                parts.append(f"    {field.name}={value!r},")
        return "\n".join(["Recipe(", *parts, "),"])


def drawn(seed: int) -> Recipe:
    """The recipe of a seed: the first combination of its generator that a method covers."""
    rng = Random(seed)
    while True:
        recipe = _drawn(rng)
        if rng.random() >= LONG_METHODS.get(recipe.method, 1):
            continue
        try:
            recipe.schedule  # noqa: B018 - made and kept
        except InputError:
            continue
        return recipe


def _drawn(rng: Random) -> Recipe:
    network, topology = _drawn_network(rng)
    machine, router = drawn_machine(rng)
    collective = rng.choice(COLLECTIVES)
    root = rng.choice(topology.endpoints.tolist()) if collective in ("broadcast", "reduce") else None
    size = rng.choice((rng.randint(1, 200), rng.randint(1, 4096), rng.randint(1, 1 << 15)))
    skew = tuple(rng.randint(0, 500) for _ in topology.kind)
    return Recipe(
        network,
        rng.choice(METHODS),
        collective,
        root,
        size,
        rng.randrange(100),
        tuple(machine.items()),
        tuple(router.items()),
        skew,
    )


def _drawn_network(rng: Random) -> tuple[str | Cabling, Topology]:
    """A small network by name, or random switches."""
    while True:
        network = drawn_cabling(rng) if rng.random() < 0.25 else rng.choice(NETWORKS)
        topology = parse_topology(network) if isinstance(network, str) else network.topology()
        if len(topology.endpoints) <= MOST_ENDPOINTS:
            return network, topology


def drawn_machine(rng: Random) -> tuple[dict[str, int], dict[str, str | int | bool]]:
    """Routers of any kind, with deep or shallow buffers, and links and reduction units of any speed."""
    router: dict[str, str | int | bool] = {
        "flow_control": rng.choice(("cut-through", "wormhole")),
        "vc_choice": rng.choice(("rotate", "rotate", "any")),
        "vc_reuse": rng.choice(("tail", "tail", "empty")),
        "interfaces": rng.choice(("link", "link", "node")),
        "datelines": rng.random() < 0.8,
        "allocator": rng.choice(("islip", "separable")),
        "sub_message_flits": rng.randint(1, 8),
    }
    latency = rng.choice((1, 3, 20, 150))
    deep = 2 * latency + 20
    return {
        "head_flits": rng.randint(0, 2),
        "link_latency_cycles": latency,
        "router_cycles": rng.randint(1, 5),
        "ni_cycles": rng.randint(0, 2),
        "ni_issue_cycles": rng.choice((0, 0, 3)),
        "ni_start_cycles": rng.choice((0, 0, 7)),
        "vc_count": rng.choice((1, 2, 4, 8)),
        "vc_buffer_flits": rng.choice((deep, deep, rng.randint(8, 40))),
        "reduce_bytes_per_cycle": rng.choice((8, 128)),
        "reduce_start_cycles": rng.randint(0, 3),
    }, router
