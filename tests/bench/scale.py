"""512 endpoints: CPU seconds to build a schedule with every method and to check it, on direct and on switched networks.

The aim is 20 s for the two together. Next to each stands a ratio: to MultiTree (direct) or ring (switched) on the same network in
the same run, whatever the machine.
"""

import sys
import time

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule

AIM = 20.0  # CPU seconds
NETWORKS = (
    "torus:16x32",
    "mesh:16x32",
    "ace-torus:8x8x8",
    "switch:512",
    "sym512",
    "fattree:16x32",
    "bigraph:32x16",
    "switch-fc:512x4",
)
SMALL = ("mesh:2x2", "fattree:2x2")
MESSAGE, SMALL_MESSAGE = 1 << 24, 1 << 16
KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_TO_ALL, CollectiveKind.BROADCAST)


def build(name: str, topology: Topology, kind: CollectiveKind, message: int) -> Schedule | str:
    """The schedule of a method, or why there is none."""
    collective = Collective(kind, 0 if kind in WITH_ONE_ROOT else None)
    try:
        return load_methods()[name](Request(topology, collective, message, load_machine("multitree")))
    except (UnsupportedError, UndecidedError) as error:
        return str(error)


def measure(spec: str, names: list[str], message: int) -> None:
    """A line for each method and collective on one network."""
    topology = parse_topology(spec)
    basis = None
    for name in sorted(names, key=lambda name: (name != ("multitree" if topology.is_direct else "ring"), name)):
        for kind in KINDS:
            start = time.process_time()
            schedule = build(name, topology, kind, message)
            built = time.process_time() - start
            if isinstance(schedule, str):
                if " does not make " not in schedule:
                    print(f"{spec:<17}{name:<26}{kind:<13}{built:>7.2f} s  {schedule}", flush=True)
                continue
            verdict = verify_schedule(schedule)
            total = time.process_time() - start
            basis = basis or total
            state = "right" if verdict.valid else "REFUTED"
            late = "" if total <= AIM else f"  over {AIM:.0f} s"
            print(
                f"{spec:<17}{name:<26}{kind:<13}{schedule.transfers:>9} rows{built:>8.2f} s built"
                f"{total - built:>7.2f} s checked  {state}  x{total / basis:.2f}{late}",
                flush=True,
            )


def run(smoke: bool, names: list[str] | None = None, networks: tuple[str, ...] = ()) -> None:
    """Every method that covers each network."""
    chosen = names or [name for name in load_methods() if name != "auto"]
    for spec in networks or (SMALL if smoke else NETWORKS):
        measure(spec, chosen, SMALL_MESSAGE if smoke else MESSAGE)


if __name__ == "__main__":
    wanted = [name for name in sys.argv[1:] if name in load_methods()]
    run("--smoke" in sys.argv[1:], wanted or None, tuple(spec for spec in sys.argv[1:] if ":" in spec or spec == "sym512"))
