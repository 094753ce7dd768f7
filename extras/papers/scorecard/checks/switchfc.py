"""Checks of the switch-fc paper."""

from fractions import Fraction

import certree.api as ct
from certree.extras.papers.scorecard.check import CHECKS, Found, schedule_of, yes
from certree.models.machine.machine import load_machine
from certree.models.schedule.schedule import Schedule


def _made(network: str, collective: str, method: str, **options: str) -> Schedule:
    return schedule_of(network, collective, method=method, **options)


def _sent(made: Schedule, step: int) -> str:
    """Whom nodes 0 and 1 send to in a step."""
    now = made.step == step
    to = dict(zip(made.src[now].tolist(), made.dst[now].tolist(), strict=True))
    return f"{to[0]}, {to[1]}"


@CHECKS.register("switchfc-fig4")
def ring_of_four() -> list[Found]:
    """Fig. 4: in the ring all-reduce each node sends to the next one only."""
    made = _made("ring:4", "all-reduce", "ring")
    return [Found("distances of transfers", str(sorted({*((made.dst - made.src) % 4).tolist()})), "[1]")]


@CHECKS.register("switchfc-fig5")
def all_to_all_by_distance() -> list[Found]:
    """Fig. 5 and Section III-A: N - 1 steps, in step i to the node at distance i; N(N - 1)/2 on a ring; 21 saved with 8 nodes."""
    made, ring = _made("switch-fc:8x8", "all-to-all", "switch-fc"), _made("ring:8", "all-to-all", "ring-all-to-all")
    return [
        Found("steps with 8 nodes", made.steps, 7),
        Found("whom nodes 0 and 1 send to in step 3", _sent(made, 2), "3, 4"),
        Found("steps on a ring of one direction", ring.steps, 28),
        Found("steps saved", ring.steps - made.steps, 21),
    ]


@CHECKS.register("switchfc-fig7")
def all_reduce_of_four() -> list[Found]:
    """Fig. 7: two steps with 4 nodes, to the next node and to the one after."""
    made = _made("switch-fc:4x4", "all-reduce", "switch-fc")
    return [Found("steps", made.steps, 2), Found("step 1", _sent(made, 0), "1, 2"), Found("step 2", _sent(made, 1), "2, 3")]


@CHECKS.register("switchfc-fig8")
def all_gather_of_four() -> list[Found]:
    """Fig. 8: two steps with 4 nodes, all data of a node in each."""
    made = _made("switch-fc:4x4", "all-gather", "switch-fc")
    second = sorted(made.chunk[(made.step == 1) & (made.src == 0)].tolist())
    return [Found("steps", made.steps, 2), Found("blocks that node 0 sends in step 2", str(second), "[0, 3]")]


@CHECKS.register("switchfc-formula")
def printed_destinations() -> list[Found]:
    """Section III-B: in step S node i sends to (i + 2(S - 1)) mod N; the schedule is valid."""
    found = []
    for nodes in (4, 8, 16):
        made = _made(f"full:{nodes}", "all-reduce", "switch-fc", formula="printed")
        found.append(Found(f"valid with {nodes} nodes", yes(ct.verify(made).valid), "yes"))
    return found


@CHECKS.register("switchfc-steps")
def fewer_steps() -> list[Found]:
    """Section III-B3: log2 N steps, where the ring has 2(N - 1)."""
    return [Found(f"steps with {nodes} nodes", _made(f"switch-fc:{nodes}x{nodes}", "all-reduce", "switch-fc").steps, steps)
            for nodes, steps in ((4, 2), (8, 3), (16, 4))]  # fmt: skip


@CHECKS.register("switchfc-one-switch")
def one_switch_connects_all() -> list[Found]:
    """Section III-A2: through one local switch any two nodes are one hop apart."""
    made = _made("switch-fc:4x1", "all-to-all", "switch-fc")
    return [Found("valid through one switch", yes(ct.verify(made).valid), "yes")]


@CHECKS.register("switchfc-table2")
def configuration() -> list[Found]:
    """Table II: the parameters of the machine `switch-fc` and its network."""
    machine = load_machine("switch-fc")
    network = ct.topology("switch-fc:2x2x4x4")
    inside = int(network.capacity.max()) * machine.flit_bytes * 8
    between = int(network.capacity.min()) * machine.flit_bytes * 8
    return [
        Found("cycle, ns", Fraction(10**9, machine.clock_hz), 1),
        Found("link inside a package, bits a ns", inside, 512),
        Found("link between packages, bits a ns", between, 256),
        Found("router, cycles", machine.router_cycles, 5),
        Found("virtual channels", machine.vc_count, 2),
        Found("flits of a buffer", machine.vc_buffer_flits, 5000),
        Found("latencies of links, cycles", str(sorted({*network.latency.tolist()})), "[90, 200]"),
    ]
