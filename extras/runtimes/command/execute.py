"""`certree execute` (run): Execute a schedule with one process for each endpoint and real data."""

from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import click

from certree.api.api_errors import InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.api.reports.text import collective_words, counted, one_line, size_words
from certree.api.settings import message_size, setting
from certree.cli.words.parameters import DURATION, option_json, option_size
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, show
from certree.extras.runtimes.run.duties import reducing_switches
from certree.extras.runtimes.run.executing import DEFAULT_SECONDS, MAX_ITERATIONS, Executed, execute, execute_with_mpi
from certree.extras.runtimes.run.mpi import started_by_mpi
from certree.extras.runtimes.run.numbers import OPERATIONS, TYPES
from certree.models.common.errors import InputError, short
from certree.models.common.quantities import parse_duration


@click.command("execute")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option(
    "--local", type=click.IntRange(2), metavar="N", help="N processes on this computer; by default as many as are needed."
)
@click.option("--on", metavar="NAME", help="Another executor than processes, such as jax; `certree list` names them.")
@click.option("--devices", type=click.IntRange(1), metavar="N", help="With --on: N devices; by default one for each endpoint.")
@click.option("--rank-map", metavar="LIST", help="With mpirun: the rank of each process, such as 2,0,1.")
@option_size(recorded=True)
@click.option("--type", "type_name", type=click.Choice(list(TYPES)), default="float32", show_default=True, help="Type of elements.")
@click.option("--op", "operation", type=click.Choice(list(OPERATIONS)), default="sum", show_default=True, help="What reduces.")
@click.option("--iterations", type=click.IntRange(1, MAX_ITERATIONS), default=5, show_default=True, help="Timed iterations.")
@click.option("--time-limit", type=DURATION, help=f"Wall time of all iterations; {DEFAULT_SECONDS} by default.")
@option_json()
def execute_command(
    schedule: Path,
    local: int | None,
    on: str | None,
    devices: int | None,
    rank_map: str | None,
    size: int | None,
    type_name: str,
    operation: str,
    iterations: int,
    time_limit: Fraction | None,
    as_json: bool,
) -> int:
    """Execute a schedule: a process for each endpoint and each switch that reduces, every transfer a message, real data.

    The processes are started here and joined by sockets, or are those of `mpirun -n N certree execute SCHEDULE` (mpi4py). With
    `--on jax` devices of JAX execute the module of `certree export --format jax`.

    Results are compared bit for bit with those of one process that adds in the order of the schedule, and with the expression of
    that order where slots fix one for all chunks. They are also compared with exact arithmetic.
    Exit code 1: a result is wrong, a process ended, or a message did not come within the time limit; every rank then says why.
    """
    mapped = None if rank_map is None else _rank_map(rank_map)
    source = schedule_of(schedule)
    used = message_size(source, size, note)
    limit = time_limit or parse_duration(DEFAULT_SECONDS)
    fields: dict[str, Any] = {
        "size": used,
        "type": type_name,
        "operation": operation,
        "iterations": iterations,
        "time_limit": limit,
    }
    with_mpi = local is None and on is None and started_by_mpi()
    if mapped is not None and not with_mpi:
        raise InputError("--rank-map is for processes that mpirun starts")
    if devices is not None and with_mpi:
        raise InputError(f"--devices {devices}: mpirun started the processes; devices are for --on")
    try:
        with working("executing"):
            if with_mpi:
                found = execute_with_mpi(source, rank_map=mapped, fail=lambda fault: note(f"error: {fault}"), **fields)
            else:
                found = execute(source, local=local, on=on, devices=devices, **fields)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, setting(error.schedule), as_json=as_json)
    if found is None:  # rank 0 of MPI has the results
        return 0
    show(execute_report(found), lambda report: execute_words(report, found.words), as_json=as_json)
    return 0 if found.right else 1


def _rank_map(text: str) -> list[int]:
    """The numbers in a list; InputError for anything else."""
    if not all(part.isascii() and part.isdigit() and len(part) < 8 for part in text.split(",")):
        raise InputError(f"rank map {short(text)}; allowed: numbers of ranks with commas between, such as 2,0,1")
    return [int(part) for part in text.split(",")]


def execute_report(done: Executed) -> dict[str, Any]:
    """A JSON document."""
    collective, switches = done.schedule.collective, len(reducing_switches(done.schedule))
    return {
        "right": done.right,
        "exact": done.exact,
        **({} if done.in_order is None else {"in_order": done.in_order}),
        "error_over_bound": done.error if done.error < float("inf") else None,
        "topology": done.schedule.topology.name,
        "collective": collective.name,
        "root": collective.root,
        "method": done.schedule.provenance.get("method"),
        "ranks": len(done.schedule.topology.endpoints),
        **({"switches": switches} if switches else {}),
        "messages": done.schedule.transfers * done.schedule.repeats,
        "message_bytes": done.message_bytes,
        "type": done.type,
        "operation": done.operation if collective.reduces else None,
        "seconds": list(done.seconds),
        "bus_bytes_per_second": done.bus_bandwidth,
        "mpi_seconds": done.mpi_seconds,
        **({} if collective.members is None else {"members": list(collective.members)}),
        **({} if collective.demand is None else {"blocks": len(collective.demand.blocks)}),
        **done.more,
    }


def execute_words(report: dict[str, Any], more: str = "") -> str:
    """The report as text; `more`: what another executor than processes says of itself."""
    what = f"{collective_words(report)} on {one_line(report['topology'])}, made by {one_line(report['method'] or 'unknown')}"
    how = f"{report['type']}, {report['operation']}" if report["operation"] else report["type"]
    bits = "results have the bits of the reference" if report["exact"] else "results differ from the reference"
    if "in_order" in report:
        bits += ", and of the order of additions" if report["in_order"] else "; they do not have the bits of the order of additions"
    bound = report["error_over_bound"]
    error = "" if bound == 0 else f"; error / bound {'more than any' if bound is None else f'{bound:.2f}'}"
    seconds, runs = report["seconds"], counted(len(report["seconds"]), "iterations")
    own = "" if report["mpi_seconds"] is None else f"; MPI's own all-reduce {1e3 * report['mpi_seconds']:.3g} ms"
    processes = counted(report["ranks"] + report.get("switches", 0), "devices" if "on" in report else "processes")
    return (
        f"{'right' if report['right'] else 'wrong'}: {what}\n"
        f"  {processes} · {report['messages']:,} messages · {size_words(report['message_bytes'])} of {how}\n"
        f"  {bits}{error}\n"
        f"  time: at best {1e3 * min(seconds):.3g} ms, median {1e3 * median(seconds):.3g} ms of {runs};"
        f" bus bandwidth {report['bus_bytes_per_second'] / 1e9:.3g} GB/s at best{own}" + (f"\n  {more}" if more else "")
    )
