"""Checks of the switch-fc paper."""

from fractions import Fraction
from math import ceil

import certree.api as ct
from certree.extras.costs.model.hardware import hardware_of
from certree.extras.papers.scorecard.check import CHECKS, Found, schedule_of, yes
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
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
    """Fig. 5, Section III-A: an all-to-all takes N - 1 steps, in step i to the node at distance i, and N(N - 1)/2 on a ring."""
    made, ring = _made("switch-fc:8x8", "all-to-all", "switch-fc"), _made("ring:8", "all-to-all", "ring-all-to-all")
    return [
        Found("steps with 8 nodes", made.steps, 7),
        Found("whom nodes 0 and 1 send to in step 3", _sent(made, 2), "3, 4"),
        Found("steps on a ring of one direction", ring.steps, 28),
        Found("steps saved", ring.steps - made.steps, 21),
    ]


@CHECKS.register("switchfc-fig7")
def all_reduce_of_four() -> list[Found]:
    """Fig. 7: an all-reduce of 4 nodes takes two steps. In each, a node sends to the next node and to the one after it."""
    made = _made("switch-fc:4x4", "all-reduce", "switch-fc")
    return [Found("steps", made.steps, 2), Found("step 1", _sent(made, 0), "1, 2"), Found("step 2", _sent(made, 1), "2, 3")]


@CHECKS.register("switchfc-fig8")
def all_gather_of_four() -> list[Found]:
    """Fig. 8: an all-gather of 4 nodes takes two steps, and a node sends all of its data in each."""
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
    """Section III-B3: an all-reduce takes log2 N steps, where the ring takes 2(N - 1)."""
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


_LANE_FLITS = (1 << 20) // 32  # of 1 MiB over one lane of 256 bits; a link inside a package has two

#: Fig. 9, by collective: nodes; steps by switches and their flits on a link; steps of the ring and their flits; what is saved.
#: All-reduces have N switches, all-to-alls half of them, by which the paper's values are the nearest
_FIG_9 = {
    "all-reduce": ((2, _LANE_FLITS // 8, 6, _LANE_FLITS // 8, "0.6582"), (3, _LANE_FLITS // 16, 14, _LANE_FLITS // 16, "0.7589")),
    "all-to-all": ((3, _LANE_FLITS // 16, 6, _LANE_FLITS // 8, "0.7359"), (7, _LANE_FLITS // 64, 28, _LANE_FLITS // 16, "0.9311")),
}


@CHECKS.register("switchfc-fig9-overheads")
def one_overhead_a_step() -> list[Found]:
    """Section V-A: what is saved with 4 and with 8 nodes, by steps that take their flits and a constant, one in packages and one on
    the ring."""
    found = []
    for name, both in _FIG_9.items():
        # steps (flits + inside) = (1 - saved) ring_steps (ring_flits + ring), so inside = factor (ring_flits + ring) - flits
        factors = [(1 - Fraction(saved)) * Fraction(ring_steps, steps) for steps, _, ring_steps, _, saved in both]
        offsets = [factor * entry[3] - entry[1] for factor, entry in zip(factors, both, strict=True)]
        ring = (offsets[1] - offsets[0]) / (factors[0] - factors[1])
        inside = offsets[0] + factors[0] * ring
        words = f"{name}: constants that are not negative (ring {round(ring):,}, inside {round(inside):,} cycles)"
        found.append(Found(words, yes(min(ring, inside) >= 0), "yes"))
    return [*found, _by_one_start()]


#: cycles of a head by Table II: over a link of 90 with a router of 5 at each end, and over two with three
_START_ON_THE_RING, _START_INSIDE = 1 + 90 + 2 * 5, 1 + 2 * 90 + 3 * 5


def _by_one_start() -> Found:
    """How many of the four values one start of a step in packages gives to a hundredth, next to Table II's on the ring, with the
    switches of _FIG_9; for the others the numbers of switches, from 2 to N, with which the same start gives them, too."""
    entries = [entry for both in _FIG_9.values() for entry in both]
    ranges = [_starts(entry, Fraction(1)) for entry in entries]
    best = max((low for low, _ in ranges), key=lambda start: sum(low <= start <= high for low, high in ranges))
    held = [one for one in ranges if one[0] <= best <= one[1]]
    low, high = max(one[0] for one in held), min(one[1] for one in held)
    missed = []
    for entry, nodes, used, one in zip(entries, (4, 8, 4, 8), (4, 8, 2, 4), ranges, strict=True):
        if one in held:
            continue
        missed.append(f"{round(one[0])} to {round(one[1])}")
        for switches in range(2, nodes + 1):
            first, last = _starts(entry, Fraction(used, switches))
            if max(low, first) <= min(high, last):
                both = f"{round(max(low, first))} to {round(min(high, last))}"
                missed[-1] += f", with {switches} of {nodes} switches {both} gives it, too"
    words = f"{round(low)} to {round(high)} cycles, Table II has {_START_INSIDE}; missed: {'; '.join(missed)}"
    return Found(f"values to a hundredth by one start in packages ({words})", len(held), 4)


def _starts(entry: tuple[int, int, int, int, str], longer: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the greatest start of a step in packages that give the saved part of an entry of _FIG_9 to a hundredth, where
    a step has `longer` times its flits, rounded up."""
    steps, flits, ring_steps, ring_flits, saved = entry
    low, high = (1 - Fraction(saved) * (1 + sign * Fraction(1, 100)) for sign in (1, -1))
    on_the_ring = ring_steps * (ring_flits + _START_ON_THE_RING)
    return low * on_the_ring / steps - ceil(flits * longer), high * on_the_ring / steps - ceil(flits * longer)


@CHECKS.register("switchfc-worth")
def switches_worth_their_price() -> list[Found]:
    """Section V-A: three switches with 4 nodes, four with 8 are worth their price; here those with the most all-to-alls of 1 MiB
    for each flit of buffers in four packages, the part of hardware that explains both powers of Fig. 12."""
    machine, found = load_machine("switch-fc"), []
    latency = 1 + 3 * machine.router_cycles + 2 * 90  # a head, and two links with a router at each end
    for nodes, paper in ((4, 3), (8, 4)):
        worth = {}
        for switches in range(2, nodes + 1):
            cycles = (nodes - 1) * (latency - (-_LANE_FLITS // (nodes * 2 * switches)))
            buffers = hardware_of(parse_topology(f"switch-fc:2x2x{nodes}x{switches}"), machine).buffers
            worth[switches] = Fraction(1, cycles * buffers)
        best = max(worth, key=lambda switches: worth[switches])
        less = round(float(100 * (1 - worth[paper] / worth[best])), 1)
        found.append(Found(f"switches of {nodes} nodes ({paper} have {less} % less)", best, paper))
    return found


@CHECKS.register("switchfc-areas")
def growth_of_the_area() -> list[Found]:
    """Section V-C: 1.78 and 25.07 % more area, 14 times as much with 8 nodes. Prices of parts bound that: the increase is a sum of
    prices times parts over another one, and a quotient of such sums is at most the largest of the parts' own."""
    machine = load_machine("switch-fc")
    base, built = (
        [vars(hardware_of(parse_topology(name.format(nodes, switches)), machine)) for nodes, switches in ((4, 3), (8, 4))]
        for name in ("hier-torus:2x2x{0}", "switch-fc:2x2x{0}x{1}")
    )
    added = [{part: network[part] - before[part] for part in before} for before, network in zip(base, built, strict=True)]
    growth = max(Fraction(added[1][part], added[0][part]) for part in added[0] if added[0][part])
    thinner = max(Fraction(base[0][part], base[1][part]) for part in base[0] if base[1][part])
    needed = Fraction("0.2507") / Fraction("0.0178")
    limit = growth * thinner
    least = (needed - limit) / (needed + limit)  # of the larger one of both relative errors
    words = f"least error of both areas with any prices, in per cent (the increase grows {float(limit):.2f} times at most)"
    return [Found(words, round(100 * least), 0)]
