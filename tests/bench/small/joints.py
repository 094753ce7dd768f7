"""Drawn workloads: several collectives at once on 20 networks, against the same one after the other.

    python -m tests.bench.small.joints [NETWORK ...] [--drawn 100]

A line for each network: how many workloads were drawn; how many joint schedules are valid, run to the cycle of their closed form
without routers and through them, and are slower than one after the other; how many end later than independent schedules, which meet
in routers; the least, the mean and the largest share of the time of one after the other, the mean and the largest share of that of
independent schedules, the largest time over the joint bound, and CPU seconds. Networks, members, sizes, starts and waits are drawn
from fixed seeds: a network of the list has the same workloads whichever others are asked for, so that pieces make up a whole run.
"""

import argparse
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.make.alone import alone
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.run.independent_run import run_independent
from certree.extras.joint.run.joint_run import run_joint
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind

NETWORKS = (
    "ring:4", "ring:6", "ring:8", "mesh:2x3", "mesh:3x3", "mesh:4x2", "torus:3x3", "torus:4x4", "torus:2x2x2", "hypercube:3",
    "hypercube:4", "full:4", "full:6", "switch:4", "switch:8", "fattree:2x2", "fattree:2x4", "dgx1", "ring:5,without-link=0-1",
    "torus:3x3,without-node=4",
)  # fmt: skip
KINDS = [*CollectiveKind]
MOST_COLLECTIVES, SIZES = 5, [1 << power for power in range(10, 17)]


@dataclass(frozen=True)
class Line:
    """What came of a workload. `exact`, `routed`: to the cycle of the closed form, without routers and through them. `share`: of
    the time of one after the other; `independent`: of that of independent schedules, whose data are `right`; `over`: the time over
    the
    joint bound."""

    valid: bool
    exact: bool
    routed: bool
    right: bool
    share: Fraction
    independent: Fraction
    over: Fraction


def drawn(network: str, draws: Random) -> list[Entry]:
    """Two to five collectives; half of them of some endpoints; some start late, or wait for one before."""
    ends = ct.topology(network).endpoints.tolist()
    entries: list[Entry] = []
    for number in range(draws.randint(2, MOST_COLLECTIVES)):
        kind = draws.choice(KINDS)
        some = tuple(sorted(draws.sample(ends, draws.randint(2, len(ends))))) if draws.random() < 0.5 else None
        root = draws.choice(some or ends) if kind in WITH_ONE_ROOT else None
        after = (draws.choice(entries).name,) if entries and draws.random() < 0.25 else ()
        start = draws.randrange(2000) if draws.random() < 0.25 else 0
        of = Collective(kind, root, None if some is None or len(some) == len(ends) else some)
        entries.append(Entry(f"c{number}", of, draws.choice(SIZES), start, after, draws.randint(1, 4)))
    return entries


def measured(network: str, count: int, seed: int) -> Iterator[Line]:
    """The drawn workloads of a network, each made, verified and run."""
    draws = Random(seed)
    found = 0
    while found < count:
        entries = drawn(network, draws)
        known: dict[Hashable, Any] = {}
        try:
            made = joint(network, entries, known=known)
        except UnsupportedError as refused:
            print(f"  {network}: refused: {refused}", flush=True)
            continue
        verdict, ran, routed = verify_joint(made), run_joint(made), run_joint(made, "flit")
        apart = run_independent(alone(network, entries, known=known)[1])
        assert verdict.least is not None
        after_each_other = made.provenance["one_after_the_other_cycles"]
        shares = (Fraction(made.cycles, cycles) for cycles in (after_each_other, apart.cycles, verdict.least.cycles))
        yield Line(verdict.valid, ran.holds, routed.holds, apart.data_ok, *shares)
        found += 1


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", default=[*NETWORKS])
    parser.add_argument("--drawn", type=int, default=100)
    asked = parser.parse_args()
    if unknown := set(asked.networks) - {*NETWORKS}:
        parser.error(f"{min(unknown)} is not in the list: {', '.join(NETWORKS)}")
    names = "network", "drawn", "valid", "to the cycle", "in routers", "slower", "independent earlier", "wrong data there"
    print(
        f"| {' | '.join((*names, 'least', 'mean', 'largest', 'mean independent', 'largest independent', 'over bound', 'CPU s'))} |"
    )
    print("|---" * 15 + "|", flush=True)
    every: list[Line] = []
    for network in asked.networks:
        begin = time.process_time()
        place = NETWORKS.index(network)
        share = asked.drawn * (place + 1) // len(NETWORKS) - asked.drawn * place // len(NETWORKS)
        lines = list(measured(network, share, 54 + place))
        every += lines
        _tell(network, lines, time.process_time() - begin)
    _tell("all", every, time.process_time())


def _tell(name: str, lines: list[Line], seconds: float) -> None:
    if not lines:
        return
    shares, independent = [line.share for line in lines], [line.independent for line in lines]
    counts = [sum(getattr(line, name) for line in lines) for name in ("valid", "exact", "routed")]
    counts += [sum(share > 1 for share in shares), sum(one > 1 for one in independent), sum(not line.right for line in lines)]
    numbers = min(shares), _mean(shares), max(shares), _mean(independent), max(independent), max(line.over for line in lines)
    cells = [str(len(lines)), *map(str, counts), *(f"{float(one):.2f}" for one in numbers), f"{seconds:.0f}"]
    print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


if __name__ == "__main__":
    main()
