"""`certree inject` (run): Simulate packets through a network of routers."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.api.reports.text import one_line
from certree.api.runs.injection import Injected, Traffic, inject
from certree.cli.words.parameters import COUNT, WHOLE, Parsed, argument_topology, check_output, option_json, option_params
from certree.cli.words.progress_bar import now_and_then, working
from certree.cli.words.terminal import show
from certree.models.common.errors import InputError
from certree.models.common.quantities import parse_fraction
from certree.models.network.topology import Topology

#: traffic patterns by name
PATTERNS = ("uniform", "hot-spot")
_SHOWN = 20  # packets listed for people


def parse_hot_spot(text: str) -> tuple[int, Fraction]:
    """A node and the share of all packets that goes there: (3, 1/4) for `3:1/4` or `3:0.25`."""
    node, colon, share = text.partition(":")
    if not (colon and node.isascii() and node.isdigit() and len(node) < 10):
        raise InputError(f"hot spot {text!r}: expected NODE:SHARE, such as 3:1/4")
    return int(node), parse_fraction(share, "share of a hot spot")


LOAD = Parsed("load", lambda text: parse_fraction(text, "load"))
HOT_SPOT = Parsed("hot spot", parse_hot_spot)


@click.command("inject")
@argument_topology()
@click.option("--packets", type=click.Path(path_type=Path), help="CSV file with the columns id, src, dst, flits, start.")
@click.option("--traffic", type=click.Choice(PATTERNS), help="Synthetic packets instead of a file.")
@click.option("--load", type=LOAD, default="0.1", show_default=True, help="Flits per cycle that each endpoint offers.")
@click.option("--flits", type=COUNT, default=1, show_default=True, help="Length of each synthetic packet.")
@click.option("--cycles", type=COUNT, default=10000, show_default=True, help="Cycles in which synthetic packets start.")
@click.option("--warmup", type=WHOLE, default=2000, show_default=True, help="Cycles whose packets are not measured.")
@click.option("--hot-spot", type=HOT_SPOT, help="NODE:SHARE, with --traffic hot-spot.")
@click.option("--seed", type=WHOLE, default=0, show_default=True, help="Seed of synthetic packets.")
@click.option("--longest-wait", type=COUNT, help="Report packets delayed by at least N cycles by other traffic (starvation).")
@click.option("--allow-deadlock", is_flag=True, help="Run even where routes may deadlock in the routers, to see what happens.")
@click.option("--trace-flits", type=click.Path(path_type=Path), help="Write a line for every step of flits and credits.")
@click.option("--force", is_flag=True, help="Overwrite the trace.")
@option_params()
@option_json()
def inject_command(
    topology: Topology,
    packets: Path | None,
    traffic: str | None,
    load: Fraction,
    flits: int,
    cycles: int,
    warmup: int,
    hot_spot: tuple[int, Fraction] | None,
    seed: int,
    longest_wait: int | None,
    trace_flits: Path | None,
    force: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Send packets through the routers of a network and print when head and tail of each packet arrive.

    A packet starts in cycle `start` at the earliest; head and tail are the times at which the network interface of its destination
    has its first and its last flit. Exit code 1 on a deadlock, on routes that may deadlock, or when packets starve
    (--longest-wait).
    """
    if (packets is None) == (traffic is None):
        raise InputError("give either --packets FILE or --traffic PATTERN")
    if (traffic == "hot-spot") != (hot_spot is not None):
        raise InputError("--hot-spot NODE:SHARE and --traffic hot-spot go together")
    given: Path | Traffic = Traffic(load, flits, cycles, warmup, seed, hot_spot) if packets is None else packets
    check_output(trace_flits, force=force)
    with working("injecting") as tell:
        done = inject(
            topology, given, longest_wait=longest_wait, trace_flits=trace_flits, force=force, progress=now_and_then(tell), **asked
        )
    result = done.result
    document: dict[str, Any] = {"topology": topology.name, "machine": done.machine.name}
    if done.traffic is None:
        document |= _explicit_report(done)
    else:
        document |= {"traffic": {"pattern": traffic, **_traffic_report(done.traffic)}, **_texts(done.measured())}
    document |= {"cycles": result.cycles, "flit_hops": result.flit_hops, "deadlock": list(result.deadlock)}
    if longest_wait is not None:
        document["starved"] = list(result.starved)
    show(document, injection_words, as_json=as_json)
    return 1 if result.deadlock or result.starved else 0


def _explicit_report(done: Injected) -> dict[str, Any]:
    """Every packet, in the order of the file; head and tail null for what never arrived."""
    times = zip(done.packets.id.tolist(), done.result.head.tolist(), done.result.tail.tolist(), strict=True)
    return {"packets": [{"id": i, "head": None if h < 0 else h, "tail": None if t < 0 else t} for i, h, t in times]}


def _traffic_report(traffic: Traffic) -> dict[str, Any]:
    report = _texts({name: getattr(traffic, name) for name in ("load", "flits", "cycles", "warmup", "seed")})
    return report if traffic.hot_spot is None else report | {"hot_spot": traffic.hot_spot[0], "share": str(traffic.hot_spot[1])}


def _texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as JSON has them, fractions as texts."""
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}


def injection_words(report: dict[str, Any]) -> str:
    """The report as text."""
    lines, where = [], f"{one_line(report['topology'])} ({report['machine']})"
    if "packets" in report:
        rows = report["packets"]
        lines.append(f"{len(rows)} packet(s) on {where}: all there at {report['cycles']:,}")
        lines += [f"  packet {row['id']}: head {row['head']}, tail {row['tail']}" for row in rows[:_SHOWN]]
        if len(rows) > _SHOWN:
            lines.append(f"  and {len(rows) - _SHOWN} more; --json lists all")
    else:
        traffic = report["traffic"]
        lines.append(
            f"{traffic['pattern']} traffic on {where}, load {traffic['load']}, "
            f"{traffic['flits']} flit(s) per packet, seed {traffic['seed']}"
        )
        mean = float(Fraction(report["mean_latency"]))
        lines.append(
            f"  {report['measured_packets']:,} packets measured: mean latency {mean:.2f}, longest {report['max_latency']:,}"
        )
        accepted = float(Fraction(report["accepted_load"]))
        lines.append(f"  accepted: {accepted:.4f} flits per cycle and endpoint from cycle {traffic['warmup']:,} on")
    lines += [f"  starved: {line}" for line in report.get("starved", [])]
    return "\n".join([*lines, *(f"  deadlock: {line}" for line in report["deadlock"])])
