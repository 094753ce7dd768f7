"""`certree frontier` (make): The exact frontier of steps and rounds of a small network, with proofs."""

from pathlib import Path
from typing import Any

import click

from certree.api.api_errors import SearchInterrupted
from certree.api.parsing import parse_point
from certree.cli.words.parameters import (
    COUNT,
    DURATION,
    WHOLE,
    Parsed,
    argument_topology,
    check_output,
    option_collective,
    option_json,
    option_output,
    option_solver,
    options_workers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note, show
from certree.extras.frontiers.check.frontier_report import frontier_report, frontier_words
from certree.extras.frontiers.make.frontiers import frontier
from certree.models.common.files import canonical_json, write_atomically
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule
from certree.verify.exact.question import Point

POINT = Parsed("point", parse_point)
UNDECIDED, INTERRUPTED = 3, 130
DEFAULT_MAX_CHUNKS = 6


@click.command("frontier")
@argument_topology()
@option_collective()
@click.option(
    "--max-chunks", type=COUNT, default=DEFAULT_MAX_CHUNKS, show_default=True, help="Most chunks per node that are tried."
)
@click.option("--effort", type=COUNT, default=1, show_default=True, help="Deterministic search budget: same input, same bytes.")
@click.option("--time-limit", type=DURATION, help="Wall time, such as 60s; the result then depends on the computer.")
@click.option("--memory", type=COUNT, help="Chunks that an endpoint can store; collectives that copy only. No limit by default.")
@click.option(
    "--scratch",
    type=WHOLE,
    help="Buffers of one chunk in addition to those that an endpoint must have anyway, for chunks that pass it or for separate "
    "partial sums of an all-reduce. By default no limit, and none in an all-reduce.",
)
@click.option("--unaided", is_flag=True, help="Do not start from the schedules of published algorithms.")
@click.option("--schedule", "rated", type=click.Path(path_type=Path), multiple=True, help="A schedule to rate as well; repeat.")
@click.option("--point", type=POINT, metavar="C,S,R", help="Write the schedule of this point, instead of the frontier.")
@option_solver("auto")
@options_workers("points", 1)
@option_output("the frontier with all its evidence (.json, .json.gz)")
@option_json()
def frontier_command(
    topology: Topology,
    collective: Collective,
    output: Path | None,
    force: bool,
    as_json: bool,
    rated: tuple[Path, ...],
    point: Point | None,
    **asked: Any,
) -> int:
    """Print all Pareto-optimal (C chunks per node, S steps, R rounds), with a checked proof for every candidate ruled out.

    Delay 1; endpoints do not forward within a step; a step has 1 round or more. The output has been checked as `certree
    verify` would check the file. Other commands take the schedule of a point as FILE:C,S,R. Exit code 0: the frontier is complete
    up to --max-chunks; 3: candidates are left undecided.
    """
    if point is None:
        check_output(output, force=force, suffixes=(".json", ".json.gz"), what="a frontier")
    elif output is None:
        raise click.UsageError("--point needs --output: the file for its schedule")
    else:
        check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    asked["schedules"] = {path.name: path for path in rated}
    interrupted = False
    try:
        with working("looking for the frontier") as report:
            found = frontier(topology, collective, progress=report, **asked)
    except SearchInterrupted as stopped:
        interrupted, found = True, stopped.best
    if output is not None:
        if point is None:
            write_atomically(output, canonical_json(found.verdict.document), force=force)
        else:
            save_any_schedule(found.schedule(point), output, force=force)
        note(f"wrote {output}")
    show(frontier_report(found.verdict, found.methods), frontier_words, as_json=as_json, then=("verify", output) if output else ())
    if interrupted:
        note("error: interrupted; this is what was found so far" + (f", written to {output}" if output else ""))
        return INTERRUPTED
    return 0 if found.complete else UNDECIDED
