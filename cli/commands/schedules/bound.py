"""`certree bound`: Lower bounds on any schedule for a network, each with its witness."""

from fractions import Fraction
from typing import Any

import click

from certree.api.checking import Bounds, bound
from certree.api.reports.text import UNITS, collective_words, one_line
from certree.cli.words.parameters import argument_topology, option_collective, option_json
from certree.cli.words.terminal import show
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


@click.command("bound")
@argument_topology()
@option_collective()
@option_json()
def bound_command(topology: Topology, collective: Collective, as_json: bool) -> None:
    """Lower bounds on any schedule for a network (delay 1), each with a witness that was re-checked."""
    show(
        bounds_report(bound(topology, collective)),
        bounds_words,
        as_json=as_json,
        then=("synthesize", topology.name, "-o", "schedule.json"),
    )


def bounds_report(found: Bounds) -> dict[str, Any]:
    """The JSON document of `bound`; the best of each quantity first."""
    return {
        "topology": found.topology.name,
        "collective": str(found.collective.kind),
        "root": found.collective.root,
        "bandwidth_bound": str(found.bandwidth),
        "latency_bound": found.latency,
        "scale": found.topology.scale,
        "bounds": list(found.bounds),
    }


def bounds_words(report: dict[str, Any]) -> str:
    """A report for people."""
    lines = [f"{collective_words(report)} on {one_line(report['topology'])}"]
    for quantity, unit in UNITS.items():
        lines.append(f"  {quantity}: at least {report[f'{quantity}_bound']} {unit}")
        for one in report["bounds"]:
            if one["quantity"] == quantity:
                value = str(Fraction(one["value"]) * (report["scale"] if quantity == "bandwidth" else 1))
                lines.append(f"    {value:>8}  {one['kind']}: {witness_words(one)}")
    return "\n".join(lines)


def witness_words(bound: dict[str, Any]) -> str:
    """A witness in a few words; `--json` has all of it."""
    witness = bound["witness"]
    if "part" in witness:
        parts = [part for part in witness["part"] if part >= 0]
        count = len(set(parts))
        return f"{len(parts)} nodes in {count} parts" + (", one for each node" if count == len(parts) else "")
    if "set" in witness:
        ids = witness["set"]
        return f"the set of {len(ids)} nodes {', '.join(map(str, ids[:8]))}{' ...' if len(ids) > 8 else ''}"
    if "length" in witness:
        return f"{len(witness['length'])} links of lengths {min(witness['length'])} to {max(witness['length'])}"
    if "hops" in witness:
        return f"{witness['hops']} hops from {witness['from']} to {witness['to']}"
    return f"node {witness['node']}" if "node" in witness else "counting alone"
