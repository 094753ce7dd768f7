"""`certree aggregate` (run): All-reduce in the switches of a network, with windows and loss."""

from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.api.reports.text import clock_times, clock_words, one_line, size_words
from certree.cli.words.parameters import (
    COUNT,
    WHOLE,
    Parsed,
    check_output,
    option_json,
    option_params,
    option_size,
    option_without_routers,
)
from certree.cli.words.progress_bar import now_and_then, working
from certree.cli.words.terminal import note, note_routers, show
from certree.extras.aggregation.run.aggregation_run import ENGINES, AggregationResult
from certree.extras.aggregation.run.aggregations import aggregate
from certree.extras.aggregation.run.setup import AggregationRules
from certree.hw.engines.runs import Engine
from certree.models.common.quantities import parse_fraction

PART = Parsed("part", lambda text: parse_fraction(text, "part"))
_SHOWN = 8  # switches listed for people


@click.command("aggregate")
@click.argument("source", metavar="TOPOLOGY_OR_SCHEDULE")
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--window", type=COUNT, help="Packets in flight per host and flow; by default enough to avoid waiting.")
@click.option("--aggregators", type=COUNT, help="Places of a switch; by default twice the window for each flow.")
@click.option(
    "--buffer",
    "buffer_packets",
    type=COUNT,
    help="Payloads that a switch holds for its adder; by default one for each child and aggregator.",
)
@click.option("--adders", type=COUNT, default=1, show_default=True, help="Adders of a switch, which its children share.")
@click.option("--flows", type=COUNT, help="Trees for a network; by default one for each of its central switches that reduce.")
@click.option("--ways", type=COUNT, default=1, show_default=True, help="Routes that packets take in turn between two nodes.")
@click.option("--loss", type=PART, default="0", show_default=True, help="Part of all packets that the network loses: 1/100, 0.01.")
@click.option("--duplicates", type=PART, default="0", show_default=True, help="Part of all packets that arrive twice.")
@click.option("--latest", type=WHOLE, default=0, show_default=True, help="Packets are up to N cycles late.")
@click.option("--seed", type=WHOLE, default=0, show_default=True, help="Seed of losses, duplicates and delays.")
@click.option("--timeout", type=COUNT, help="Cycles until a host sends again; by default two round trips with a full window.")
@click.option(
    "--give-up", type=COUNT, default=1000, show_default=True, help="End the run when a packet is sent N times unanswered."
)
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True,
              help="fast: one event per packet and link; flit: with routers; auto: flit where routers matter.")  # fmt: skip
@option_without_routers()
@click.option("--allow-stall", is_flag=True, help="Run with too few aggregators, until a result can never arrive.")
@click.option("--allow-deadlock", is_flag=True, help="Run even where routes may deadlock in the routers, to see what happens.")
@click.option("--trace", type=click.Path(path_type=Path), help="Write a line of JSON for each step, for model-check trace.")
@click.option("--force", is_flag=True, help="Overwrite the trace.")
@option_json()
def aggregate_command(
    source: str,
    engine: str,
    trace: Path | None,
    force: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Simulate an in-network all-reduce (NetReduce): hosts send packets in windows, switches add them and multicast the sums.

    The argument is a network with reducing switches, such as switch:8,reducing=switches, or a schedule that reduces in switches.
    Exit code 1 when a rank has a wrong or no result, or when a run without loss, duplicates and delays differs from its closed
    form.
    """
    rules = AggregationRules(**{field.name: asked.pop(field.name) for field in fields(AggregationRules)})
    check_output(trace, force=force)
    with working("aggregating") as tell:
        done = aggregate(
            source, rules=rules, engine=engine, trace=trace, force=force, progress=now_and_then(tell), tell=note, **asked
        )
    result = done.result
    if engine != Engine.FLIT:
        note_routers(result.engine, result.router_effect)
    document = {
        "topology": done.schedule.topology.name,
        "message_bytes": done.message_bytes,
        "machine": done.machine.name,
        **aggregation_report(result, rules),
        **clock_times(result.cycles, done.message_bytes, done.machine),
    }
    show(document, aggregation_words, as_json=as_json, then=("model-check", "trace", trace, source) if trace else ())
    return 0 if result.data_ok and result.closed_form_cycles in (None, result.cycles) else 1


def aggregation_report(result: AggregationResult, rules: AggregationRules) -> dict[str, Any]:
    """The JSON document of `aggregate`, without its input."""
    return {
        "engine": result.engine,
        "router_effect": result.router_effect,
        "cycles": result.cycles,
        "closed_form_cycles": result.closed_form_cycles,
        "data_ok": result.data_ok,
        "flows": len(result.packets),
        "packets": list(result.packets),
        "packet_bytes": result.packet_bytes,
        "padded_bytes": result.padded_bytes,
        "window": result.window,
        "aggregators": result.aggregators,
        "buffer": result.buffer_packets,
        "adders": rules.adders,
        "timeout": result.timeout,
        "loss": str(rules.loss),
        "duplicates": str(rules.duplicates),
        "latest": rules.latest,
        "seed": rules.seed,
        **result.counters,
        "max_link_utilization": str(result.max_link_utilization),
        "switches": [
            {
                "node": use.node,
                "most_aggregators": use.most_aggregators,
                "busy": str(use.busy),
                "most_payloads": use.most_payloads,
                "dropped": use.dropped,
            }
            for use in result.switches
        ],
        "wrong": None if result.wrong is None else {"rank": result.wrong[0], "packet": result.wrong[1]},
        "stall": list(result.stall),
    }


def aggregation_words(report: dict[str, Any]) -> str:
    """The report as text."""
    flows, packets = report["flows"], sum(report["packets"])
    where = f"{size_words(report['message_bytes'])} on {one_line(report['topology'])}"
    head = "run stopped" if report["stall"] else f"{report['cycles']:,} cycles"
    lines = [f"in-network all-reduce of {where}: {head} ({report['engine']} engine)"]
    if not report["stall"]:
        lines.append(f"  time: {clock_words(report)} on machine {one_line(report['machine'])}")
    if (expected := report["closed_form_cycles"]) is not None:
        agreement = "equal" if report["cycles"] == expected else f"{report['cycles'] - expected:+,} cycles"
        lines.append(f"  closed form: {expected:,} cycles: {agreement}")
    flow_words = "1 flow" if flows == 1 else f"{flows} flows"
    lines.append(f"  {flow_words}, {packets:,} packets of {report['packet_bytes']} bytes per host, window {report['window']}")
    lines.append(
        f"  {report['sent']:,} packets sent, {report['lost']:,} lost, {report['copied']:,} doubled, {report['dropped']:,} dropped; "
        f"{report['resent']:,} sent again by hosts"
    )
    for use in report["switches"][:_SHOWN]:
        busy = float(Fraction(use["busy"])) * 100
        lines.append(
            f"  switch {use['node']}: at most {use['most_aggregators']} of {report['aggregators']} aggregators in use, "
            f"{busy:.2f} % of their time; at most {use['most_payloads']} payloads waiting"
        )
    if len(report["switches"]) > _SHOWN:
        lines.append(f"  and {len(report['switches']) - _SHOWN} more switches; --json lists all")
    lines.append(f"  busiest link: {float(Fraction(report['max_link_utilization'])) * 100:.2f} % of the time")
    if report["data_ok"]:
        lines.append("  data: right at every rank")
    elif report["wrong"] is not None:
        lines.append(f"  data: WRONG, first at rank {report['wrong']['rank']}, packet {report['wrong']['packet']}")
    return "\n".join([*lines, *(f"  stall: {line}" for line in report["stall"])])
