"""`certree bound` (check): Lower bounds on step count, bandwidth time and time, each with its witness."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click

from certree.api.checks.checking import Bounds, bound
from certree.api.reports.schedule_report import members_of
from certree.api.reports.text import (
    QUANTITIES,
    UNITS,
    clock_words,
    collective_words,
    counted,
    one_line,
    run_times,
    size_words,
)
from certree.api.reports.time_bounds import in_cycles_and_seconds
from certree.api.settings import machine_for
from certree.cli.words.parameters import SIZE, argument_topology, option_collective, option_json, option_params
from certree.cli.words.terminal import note, show
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.verify.bounds.classes import ANY_SHARES, EQUAL_SHARES


@click.command("bound")
@argument_topology()
@option_collective(members=True, relay=True)
@click.option("--size", type=SIZE, help="Message size, such as 64MiB: print a lower bound on the time, too, in cycles and seconds.")
@option_params()
@click.option("--order", metavar="ORDER", help="Also bound schedules that add in this order, named as in `synthesize --order`.")
@click.option("--endpoint", metavar="SYSTEM", help="With --size: also bound runs with these endpoints, as `simulate` has them.")
@click.option("--endpoint-params", metavar="NAME|FILE", help="A preset or a TOML file; by default ace.")
@option_json()
def bound_command(
    topology: Topology,
    collective: Collective,
    size: int | None,
    machine: Machine | None,
    order: str | None,
    endpoint: str | None,
    endpoint_params: str | None,
    as_json: bool,
) -> None:
    """Lower bounds on step count and bandwidth time, each with a checked witness, and with --size on the time of a run.

    The last line of the output names the model: what the bounds assume about schedules.
    """
    if size is None and machine is not None:
        raise InputError("--params needs --size: bounds on steps and bandwidth time are for any machine")
    used = None if size is None else machine_for(topology, machine, note)
    found = bound(topology, collective, size=size, machine=used, order=order)
    asked = () if endpoint is endpoint_params is None else (endpoint, endpoint_params)
    report = bounds_report(found) | (provided("bound with endpoints")(found, *asked) if asked else {})
    show(report, bounds_words, as_json=as_json, then=("synthesize", topology.name, "-o", "schedule.json"))


def bounds_report(found: Bounds) -> dict[str, Any]:
    """The JSON document of `bound`; the best of each quantity first."""
    return {
        "topology": found.topology.name,
        "collective": found.collective.name,
        "root": found.collective.root,
        **members_of(found.collective),
        "bandwidth_bound": str(found.bandwidth),
        "latency_bound": found.latency,
        "bandwidth_bound_any_shares": None if found.any_shares is None else str(found.any_shares),
        **({} if found.order is None else {"order": found.order}),
        "model": list(found.model),
        "scale": found.topology.exact.scale,
        "bounds": list(found.bounds),
        **_time_report(found),
    }


def _time_report(found: Bounds) -> dict[str, Any]:
    if found.made_for is None:
        return {}
    size, machine = found.made_for.message_bytes, found.made_for.machine
    times = run_times(found.time_cycles, size, machine, found.collective, found.topology)
    any_shares = {} if found.any_shares is None else {"time_bound_cycles_any_shares": found.time_cycles_any_shares}
    bound = in_cycles_and_seconds(found.time_cycles, size, machine)
    return {**bound, **any_shares, **times, "message_bytes": size, "machine": machine.name, "time_bounds": list(found.time_bounds)}


def bounds_words(report: dict[str, Any]) -> str:
    """The report as text. Bounds for equal shares and those for any shares have lines of their own where they differ."""
    lines = [f"{collective_words(report)} on {one_line(report['topology'])}"]
    differ = any(
        report.get(f"{name}_any_shares") not in (None, report.get(name)) for name in ("bandwidth_bound", "time_bound_cycles")
    )
    for quantity, unit in UNITS.items():
        scale = report["scale"] if quantity == "bandwidth" else 1
        of_quantity = [
            one | {"shown": str(Fraction(one["value"]) * scale)} for one in report["bounds"] if one["quantity"] == quantity
        ]
        for shares, bounds in _by_shares(of_quantity, differ=differ):
            lines.append(f"  {QUANTITIES[quantity]} ≥ {counted(bounds[0]['shown'], unit)}{shares}")
            lines += [f"    {one['shown']:>8}  {one['kind']}: {witness_words(one)}" for one in bounds]
    if "time_bound_cycles" in report:
        size, machine = size_words(report["message_bytes"]), one_line(report["machine"])
        for shares, bounds in _by_shares(report["time_bounds"], differ=differ):
            cycles = int(bounds[0]["value"])
            clock = f" ({clock_words(report)})" if cycles == report["time_bound_cycles"] else ""
            lines.append(f"  time ≥ {cycles:,} cycles{clock} for {size}, machine {machine}{shares}")
            lines += [f"    {int(one['value']):>8,}  {one['kind']}: {witness_words(one)}" for one in bounds]
    lines += report.get("endpoint", {}).get("words", [])
    lines.append(f"  model: {' · '.join(report['model'])}")
    return "\n".join(lines)


def _by_shares(bounds: Sequence[dict[str, Any]], *, differ: bool) -> list[tuple[str, list[dict[str, Any]]]]:
    """Bounds on a quantity, those for equal shares first if there are any; together where they are not told apart."""
    if not differ:
        return [("", list(bounds))]
    of = {shares: [one for one in bounds if one["class"][0] == shares] for shares in (EQUAL_SHARES, ANY_SHARES)}
    return [(f", {shares}", those) for shares, those in of.items() if those]


def witness_words(bound: dict[str, Any]) -> str:
    """A witness in a few words; `--json` has all of it."""
    witness = bound["witness"]
    if bound["quantity"] == "time":
        return _time_words(bound["kind"], witness)
    if "part" in witness:
        parts = [part for part in witness["part"] if part >= 0]
        count = len(set(parts))
        return f"{len(parts)} nodes in {count} parts" + (", one for each node" if count == len(parts) else "")
    if "set" in witness:
        ids = witness["set"]
        return f"the set of {len(ids)} node{'s' * (len(ids) != 1)}: {', '.join(map(str, ids[:8]))}{' ...' if len(ids) > 8 else ''}"
    if "sets" in witness:
        return f"{counted(len(witness['sets']), 'sets')} of {counted(sum(map(len, witness['sets'])), 'nodes')}"
    if "length" in witness:
        return f"{len(witness['length'])} links of lengths {min(witness['length'])} to {max(witness['length'])}"
    if "hops" in witness:
        return f"{witness['hops']} hop{'s' * (witness['hops'] != 1)} from {witness['from']} to {witness['to']}"
    return f"node {witness['node']}" if "node" in witness else "counting alone"


def _time_words(kind: str, witness: dict[str, Any]) -> str:
    """A witness of a time bound in a few words."""
    if kind == "flow":
        ends = (f"node {nodes[0]}" if len(nodes) == 1 else f"{len(nodes)} nodes" for nodes in (witness["from"], witness["to"]))
        return "data of {} due at {}".format(*ends)
    if kind == "receptions":
        return f"contributions of {counted(len(witness['from']), 'nodes')} received by node {witness['to']}, alone or added"
    if kind == "copies":
        return f"copies for {counted(len(witness['to']), 'nodes')} of what leaves the root {witness['late']:,} cycles late"
    if kind == "radius":
        return "some node is that far from any root"
    return f"the bandwidth bound by {witness['bound']['kind']}" if kind == "load" else "all reduction units"
