"""`certree execute`: Execute a schedule with one process for each endpoint and real data."""

from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import click

from certree.api.errors import InvalidScheduleError
from certree.api.inputs import read_schedule
from certree.api.reports.text import collective_words, one_line, size_words
from certree.api.runtimes.executing import DEFAULT_SECONDS, MAX_ITERATIONS, Executed, execute
from certree.api.settings import message_size, setting
from certree.cli.words.parameters import DURATION, option_json, option_size
from certree.cli.words.progress import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, show
from certree.hw.runtimes.ranks.numbers import OPERATIONS, TYPES
from certree.models.common.quantities import parse_duration


@click.command("execute")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option("--local", type=click.IntRange(2), metavar="N", help="N processes on this computer; by default the endpoints.")
@option_size(recorded=True)
@click.option("--type", "type_name", type=click.Choice(list(TYPES)), default="float32", show_default=True, help="Type of elements.")
@click.option("--op", "operation", type=click.Choice(list(OPERATIONS)), default="sum", show_default=True, help="What reduces.")
@click.option("--iterations", type=click.IntRange(1, MAX_ITERATIONS), default=5, show_default=True, help="Timed iterations.")
@click.option("--time-limit", type=DURATION, help=f"Wall time of all iterations; {DEFAULT_SECONDS} by default.")
@option_json()
def execute_command(
    schedule: Path,
    local: int | None,
    size: int | None,
    type_name: str,
    operation: str,
    iterations: int,
    time_limit: Fraction | None,
    as_json: bool,
) -> int:
    """Execute a schedule: a process for each endpoint, every transfer a message through a socket, real data.

    Results are compared bit for bit with those of one process that adds in the order of the schedule, and with exact arithmetic.
    Exit code 1: a result is wrong, a process ended, or a message did not come within the time limit; every rank then says why.
    """
    source = read_schedule(schedule)
    used = message_size(source, size, note)
    limit = time_limit or parse_duration(DEFAULT_SECONDS)
    try:
        with working("executing"):
            done = execute(
                source, local=local, size=used, type=type_name, operation=operation, iterations=iterations, time_limit=limit
            )
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, setting(error.schedule), as_json=as_json)
    show(execute_report(done), execute_words, as_json=as_json)
    return 0 if done.right else 1


def execute_report(done: Executed) -> dict[str, Any]:
    """A JSON document."""
    collective = done.schedule.collective
    return {
        "right": done.right,
        "exact": done.exact,
        "error_over_bound": done.error if done.error < float("inf") else None,
        "topology": done.schedule.topology.name,
        "collective": collective.name,
        "root": collective.root,
        "method": done.schedule.provenance.get("method"),
        "ranks": len(done.schedule.topology.endpoints),
        "messages": done.schedule.transfers * done.schedule.repeats,
        "message_bytes": done.message_bytes,
        "type": done.type,
        "operation": done.operation if collective.reduces else None,
        "seconds": list(done.seconds),
        "bus_bytes_per_second": done.bus_bandwidth,
        **({} if collective.members is None else {"members": list(collective.members)}),
        **({} if collective.demand is None else {"blocks": len(collective.demand.blocks)}),
    }


def execute_words(report: dict[str, Any]) -> str:
    """A report for people."""
    what = f"{collective_words(report)} on {one_line(report['topology'])}, made by {one_line(report['method'] or 'unknown')}"
    how = f"{report['type']}, {report['operation']}" if report["operation"] else report["type"]
    bits = "results have the bits of the reference" if report["exact"] else "results differ from the reference"
    bound = report["error_over_bound"]
    error = "" if bound == 0 else f"; error / bound {'more than any' if bound is None else f'{bound:.2f}'}"
    seconds = report["seconds"]
    return (
        f"{'right' if report['right'] else 'wrong'}: {what}\n"
        f"  {report['ranks']} processes · {report['messages']:,} messages · {size_words(report['message_bytes'])} of {how}\n"
        f"  {bits}{error}\n"
        f"  time: {1e3 * min(seconds):.3g} ms at best, {1e3 * median(seconds):.3g} ms in the middle of {len(seconds)} iterations;"
        f" bus bandwidth {report['bus_bytes_per_second'] / 1e9:.3g} GB/s at best"
    )
