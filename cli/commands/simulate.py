"""`certree simulate`: tables run cycle by cycle."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.cli.parameters import MACHINE, SIZE, check_output, option_json
from certree.cli.playing import tables_to_run
from certree.cli.report import size_words
from certree.cli.terminal import show, working
from certree.hw.flit_engine import FLOWS, OtherTraffic, simulate_flits, with_flow
from certree.hw.packets import NO_PACKETS, read_packets
from certree.hw.simulator import RUN_MODES, SimulationResult, simulate
from certree.models.errors import InputError
from certree.models.machine import Machine
from certree.models.tables import Tables

#: engine -> what runs: `fast` gives each message a lane of its own way, `flit` sends it through routers; `auto` takes fast unless
#: other packets share them
ENGINES = ("auto", "fast", "flit")


@click.command("simulate")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--size", type=SIZE, help="Message size; 64MiB by default, that of the tables for a directory.")
@click.option("--params", "machine", type=MACHINE, help="Machine; multitree by default, that of the tables for a directory.")
@click.option("--run", type=click.Choice(RUN_MODES), default="slotted", show_default=True, help="How the NIs take their rows.")
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="flit: through routers.")
@click.option(
    "--flow", type=click.Choice(FLOWS), default="message", show_default=True, help="A chunk as one message, or as packets."
)
@click.option(
    "--background", type=click.Path(path_type=Path), help="CSV file of other packets (see inject) on virtual channels of their own."
)
@click.option("--trace", type=click.Path(path_type=Path), help="Write one JSON line per message.")
@click.option("--force", is_flag=True, help="Overwrite the trace.")
@option_json()
def simulate_command(
    path: Path,
    size: int | None,
    machine: Machine | None,
    run: str,
    engine: str,
    flow: str,
    background: Path | None,
    trace: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Play a tables directory, or the tables exported from a schedule, with real numbers, flit by flit.

    Exit code 1 when a rank has a wrong result, or when a slotted run without other packets is late, meets contention or misses its
    closed form.
    """
    check_output(trace, force=force)
    through_routers = engine == "flit" or (engine == "auto" and background is not None)
    if trace is not None and through_routers:
        raise InputError("--trace needs the fast engine")
    if background is not None and not through_routers:
        raise InputError("--background needs the flit engine: other packets meet the collective in routers")
    tables = tables_to_run(path, size, machine)
    others = NO_PACKETS if background is None else read_packets(background, tables.topology)
    beside: OtherTraffic | None = None
    with working("simulating"):
        if through_routers:
            result, beside = simulate_flits(tables, run, flow=flow, others=others)
        else:
            result = simulate(with_flow(tables, flow), run, trace=trace, force=force)
    document = simulation_report(result, tables) | {"flow": flow}
    if beside is not None and background is not None:
        document["background"] = {"packets": beside.packets, "arrived": beside.arrived, "longest_latency": beside.longest}
        show(document, simulation_words, as_json=as_json)
        return 0 if result.data_ok else 1
    show(document, simulation_words, as_json=as_json)
    return 0 if holds(result) else 1


def holds(result: SimulationResult) -> bool:
    """Whether the run shows what tables promise: right data, and slotted no wait, no late row, exactly the closed form."""
    if result.run != "slotted":
        return result.data_ok
    exact = result.cycles == result.closed_form_cycles
    return result.data_ok and exact and not result.late and not result.contention_cycles


def simulation_report(result: SimulationResult, tables: Tables) -> dict[str, Any]:
    """The JSON document of `simulate`."""
    return {
        "topology": tables.topology.name,
        "run": result.run,
        "engine": result.engine,
        "cycles": result.cycles,
        "closed_form_cycles": result.closed_form_cycles,
        "contention_cycles": result.contention_cycles,
        "late": result.late,
        "data_ok": result.data_ok,
        "max_link_utilization": str(result.max_link_utilization),
        "flit_hops": result.flit_hops,
        "messages": result.messages,
        "message_bytes": tables.message_bytes,
        "machine": tables.machine.name,
        "wrong": None if result.wrong is None else {"rank": result.wrong[0], "chunk": result.wrong[1]},
        "deadlock": list(result.deadlock),
    }


def simulation_words(report: dict[str, Any]) -> str:
    """A report for people."""
    size, cycles, expected = size_words(report["message_bytes"]), report["cycles"], report["closed_form_cycles"]
    lines = [f"{report['run']} run of {size} on {report['topology']}: {cycles:,} cycles ({report['engine']} engine)"]
    if expected is not None:
        agreement = "equal" if cycles == expected else f"{cycles - expected:+,} cycles"
        lines.append(f"  closed form: {expected:,} cycles: {agreement}")
    lines.append(f"  contention: {report['contention_cycles']:,} cycles; late rows: {report['late']:,}")
    lines.append(f"  busiest link: {float(Fraction(report['max_link_utilization'])) * 100:.2f} % of the time")
    if "background" in report:
        other = report["background"]
        arrived = f"{other['arrived']:,} of {other['packets']:,} packets arrived"
        lines.append(f"  background: {arrived}, the slowest in {other['longest_latency']:,} cycles")
    if report["data_ok"]:
        lines.append("  data: right at every rank")
    elif report["wrong"] is not None:
        lines.append(f"  data: WRONG, first at rank {report['wrong']['rank']}, chunk {report['wrong']['chunk']}")
    return "\n".join([*lines, *(f"  deadlock: {line}" for line in report["deadlock"])])
