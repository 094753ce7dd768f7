"""`certree endpoints` (run): Simulate a collective including endpoint costs (memory bus, NI, ACE engine)."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from certree.api.reports.text import one_line, size_words
from certree.cli.words.parameters import COUNT, SIZE, Parsed, check_output, key_values, option_collective, option_json
from certree.cli.words.progress_bar import now_and_then, working
from certree.cli.words.terminal import note, show
from certree.extras.endpoints.model.endpoint import Endpoint, load_endpoint
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.endpoint_run import DELAYS, UNITS, EndpointResult
from certree.extras.endpoints.run.endpoint_runs import PROGRAMS, RULES, endpoints, parse_payload
from certree.hw.engines.runs import Run
from certree.models.schedule.collective import Collective

PAYLOAD, ENDPOINT = Parsed("size", parse_payload), Parsed("endpoint", load_endpoint)


@click.command("endpoints")
@click.argument("source", metavar="TOPOLOGY_OR_SCHEDULE")
@option_collective(required=False, help_text="For a network: all-reduce (the default), all-to-all, or others with --method.")
@click.option("--method", help="For a network; by default the hierarchical algorithms of ACE's Table 5.")
@click.option(
    "--option", "options", multiple=True, callback=key_values, metavar="NAME=VALUE", help="An option of the method (repeatable)."
)
@click.option("--size", "payloads", type=PAYLOAD, multiple=True,
              help="Bytes at every node; by default what a schedule records, or 16MiB. Repeat for more collectives, 4MiB@5000 for "
                   "one asked for in cycle 5000.")  # fmt: skip
@click.option("--system", "names", multiple=True, help="System from the parameter file (repeatable). By default all of them.")
@click.option("--params", "endpoint", type=ENDPOINT, default="ace", show_default=True, help="Endpoints: a preset or a TOML file.")
@click.option("--chunk", type=SIZE, help="Bytes of a chunk, for all systems.")
@click.option("--ways", type=COUNT, help="Parts of the schedule that chunks use in turn; 2 for Table 5's rings, otherwise 1.")
@click.option("--lifo", is_flag=True, help="Serve the latest collective first.")
@click.option("--bounded", is_flag=True, help="Limit a collective to its share of the memory bandwidth.")
@click.option("--without", "left_out", type=click.Choice(RULES), multiple=True,
              help="Disable a deadlock-avoidance rule (repeatable). Without all three: the published ACE design.")  # fmt: skip
@click.option("--program", type=click.Choice(PROGRAMS), default="auto", show_default=True,
              help="tables: on the machine of simulate, through routers; messages: with ways, ports and phases, without routers; "
                   "auto: tables where there are any that take no minutes, through routers or on lanes.")  # fmt: skip
@click.option("--joint", is_flag=True, help="Run messages, and tables next to them, or say why there are none.")
@click.option("--trace", type=click.Path(path_type=Path), help="For one system: write a line of JSON per step of an endpoint.")
@click.option("--force", is_flag=True, help="Overwrite the trace.")
@option_json()
def endpoints_command(
    source: str,
    collective: Collective | None,
    method: str | None,
    options: Mapping[str, str],
    payloads: Sequence[Payload],
    names: Sequence[str],
    endpoint: Endpoint,
    chunk: int | None,
    ways: int | None,
    lifo: bool,
    bounded: bool,
    left_out: Sequence[str],
    program: str,
    joint: bool,
    trace: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Simulate a collective including endpoint costs, chunk by chunk: memory and interface buses, an accelerator that adds, or
    ACE's engine with its SRAM, state machines, ALUs and ports. SCHEDULE: each chunk goes through one iteration of it.

    Tables run, paced, through the routers of simulate, where all systems have tables; on lanes where routers take long; otherwise
    messages. The output says which, and why.

    Exit code 1 when a rank has a wrong result, or on a deadlock, with a list of who waits for what.
    """
    check_output(trace, force=force)
    with working("running endpoints") as tell:
        runs = endpoints(
            source, collective, method=method, options=options, payloads=payloads, systems=names, endpoint=endpoint, chunk=chunk,
            ways=ways, lifo=lifo, bounded=bounded, without=left_out, trace=trace, force=force, joint=joint,
            program=program, progress=now_and_then(tell), tell=note,
        )  # fmt: skip
    document = {
        "topology": runs.schedule.topology.name,
        "collective": str(runs.schedule.collective.kind),
        "method": runs.method,
        "payloads": [{"bytes": payload.size, "start": payload.start} for payload in runs.payloads],
        "ways": None if all(result.tables is not None for result in runs.results) else runs.choices.ways,
        "endpoint": endpoint.name,
        "no_tables": runs.no_tables,
        "no_routers": runs.no_routers,
        "systems": [endpoint_report(result) | _joint_report(runs.joint.get(result.system)) for result in runs.results],
    }
    show(document, endpoint_words, as_json=as_json, then=("model-check", "trace", trace, source) if trace else ())
    return 0 if runs.correct else 1


def _joint_report(run: Run | str | None) -> dict[str, Any]:
    """The run of tables of a system, or why there is none; nothing where none was asked for."""
    if run is None:
        return {}
    if isinstance(run, str):
        return {"joint": {"cycles": None, "reason": run}}
    assert run.endpoint is not None
    counts = run.endpoint.counts
    found = {"engine": str(run.engine), "chunks": counts["iterations"], "data_ok": run.data_ok}
    bound = {name: counts[name] for name in ("bound_cycles",) if name in counts}  # of one collective
    return {"joint": {"cycles": run.cycles, **bound, **found}}


def endpoint_report(result: EndpointResult) -> dict[str, Any]:
    """The JSON document of one run; exact numbers as strings, null for what a run of tables has not, or does not measure."""
    occupancy = dict.fromkeys(UNITS) | {name: str(value) for name, value in result.occupancy.items()}
    delays = dict.fromkeys(DELAYS) | {name: str(value) for name, value in result.delays.items()}
    return {
        "system": result.system,
        "cycles": result.cycles,
        "ends": list(result.ends),
        "seconds": str(result.seconds),
        "data_ok": result.data_ok,
        "wrong": None if result.wrong is None else dict(zip(("rank", "chunk", "piece"), result.wrong, strict=True)),
        "conserved": result.conserved,
        "chunks": result.chunks,
        "chunk_bytes": result.chunk_bytes,
        "padded_bytes": result.padded_bytes,
        "messages": result.messages,
        "phases": result.phases,
        "partitions": list(result.partitions),
        "partition_peaks": list(result.partition_peaks),
        "deepest_port": result.deepest_port,
        "interrupts": result.interrupts,
        "memory_bytes": result.memory_bytes,
        "link_bytes": result.link_bytes,
        "occupancy": occupancy,
        "delays": delays,
        "joules": str(result.joules),
        "stall": list(result.stall),
        "program": "messages" if result.tables is None else "tables",
        **({} if result.tables is None else _of_run(result.tables)),
    }


def _of_run(run: Run) -> dict[str, Any]:
    """The keys of a report on a run of tables and its engine."""
    assert run.endpoint is not None
    return {"engine": str(run.engine), "counts": dict(run.endpoint.counts)}


def endpoint_words(report: dict[str, Any]) -> str:
    """The report as text."""
    sizes = ", ".join(
        size_words(entry["bytes"]) + (f" at {entry['start']:,}" if entry["start"] else "") for entry in report["payloads"]
    )
    where = f"{sizes} on {one_line(report['topology'])} by {one_line(report['method'])}"
    lines = [f"{report['collective']} of {where}, endpoints {one_line(report['endpoint'])}"]
    if report["no_tables"] is not None:
        lines.append(f"  messages, without routers, not tables: {report['no_tables']}")
    if report["no_routers"] is not None:
        lines.append(f"  tables on lanes, without routers: {report['no_routers']}")
    many = len(report["payloads"]) > 1
    for run in report["systems"]:
        lines += _table_lines(run, many) if run["program"] == "tables" else _system_lines(run, many)
    return "\n".join(lines)


def _table_lines(run: dict[str, Any], many: bool) -> list[str]:
    """A run of tables, in words."""
    if run["stall"]:
        return [f"  {run['system']}: deadlock", *(f"    stall: {line}" for line in run["stall"])]
    busy = {name: f"{float(Fraction(share)) * 100:.1f} %" for name, share in run["occupancy"].items() if share is not None}
    counts, chunks = run["counts"], f"{run['chunks']} chunks of {size_words(run['chunk_bytes'])}"
    if run["chunks"] > 1:
        chunks += f", period {counts['period']}, spacing {counts['spacing']}"
    bound = f"; {run['cycles'] / max(1, counts['bound_cycles']):.3f} times the time bound" if "bound_cycles" in counts else ""
    lines = [
        f"  {run['system']}: {run['cycles']:,} cycles{_ends(run) if many else ''}; {chunks}, "
        f"{run['messages']:,} messages of tables ({run['engine']} engine){bound}",
        "    busy: " + ", ".join(f"{name.replace('_', ' ')} {share}" for name, share in busy.items()),
    ]
    if run["delays"]["bus_transfer"] is not None:
        lines.append(_delay_line(run))
    if "sram_peak" in counts:
        lines.append(
            f"    engine: SRAM at most {size_words(counts['sram_peak'])} of chunks at work, "
            f"{size_words(counts['results_peak'])} of results, at most {counts['waiting_peak']} messages waiting at ports; "
            f"{float(Fraction(run['joules'])) * 1000:.3f} mJ"
        )
    right = "right at every rank"
    if not run["data_ok"]:
        right = f"WRONG, first at rank {run['wrong']['rank']}, chunk {run['wrong']['chunk']}"
    return [*lines, f"    data: {right}"]


def _ends(run: dict[str, Any]) -> str:
    return f" (each at {', '.join(f'{end:,}' for end in run['ends'])})"


def _delay_line(run: dict[str, Any]) -> str:
    """The delays of a run; chunks queue at engines, and in runs of messages."""
    delays = {name: f"{float(Fraction(cycles)):,.0f}" for name, cycles in run["delays"].items() if cycles is not None}
    queuing = f", {delays['chunk_queuing']} chunk queuing" if "chunk_queuing" in delays else ""
    return (
        f"    cycles: bus {delays['bus_queuing']} queuing and {delays['bus_transfer']} transfer, {delays['local_reduction']} local "
        f"reduction, {delays['network_transfer']} network{queuing}"
    )


def _system_lines(run: dict[str, Any], many: bool) -> list[str]:
    if run["stall"]:
        return [f"  {run['system']}: deadlock", *(f"    stall: {line}" for line in run["stall"])]
    ends = _ends(run) if many else ""
    occupancy = {name: f"{float(Fraction(share)) * 100:.1f} %" for name, share in run["occupancy"].items()}
    lines = [
        f"  {run['system']}: {run['cycles']:,} cycles{ends}; {run['chunks']} chunks of {size_words(run['chunk_bytes'])}, "
        f"{run['messages']:,} messages, {run['phases']} phase{'s' * (run['phases'] != 1)}",
        f"    busy: busiest link {occupancy['busiest_link']}, memory bus {occupancy['memory_bus']}, interface bus "
        f"{occupancy['to_interface_bus']} out, {occupancy['to_accelerator_bus']} in",
        _delay_line(run),
    ]
    if run["partitions"]:
        peaks = ", ".join(f"{peak / room:.0%}" for room, peak in zip(run["partitions"], run["partition_peaks"], strict=True))
        lines.append(
            f"    engine: SRAM {occupancy['sram']} full, ALUs {occupancy['alus']} busy, partitions at most {peaks} full, ports "
            f"{run['deepest_port']} deep; {float(Fraction(run['joules'])) * 1000:.3f} mJ"
        )
    if (joint := run.get("joint")) is not None:
        told = f"no run: {joint.get('reason')}"
        if joint["cycles"] is not None:
            told = f"{joint['cycles']:,} cycles ({joint['engine']} engine), {joint['chunks']} chunks"
        lines.append(f"    tables in the joint machine: {told}")
    if not run["data_ok"]:
        wrong = run["wrong"]
        lines.append(f"    data: WRONG, first at rank {wrong['rank']}, chunk {wrong['chunk']}")
    else:
        lines.append("    data: right at every rank")
    return lines
