"""`certree measure`: Benchmarks on this computer, for fit."""

from pathlib import Path
from statistics import median

import click

from certree.cli.words.parameters import COUNT, check_output, comma_list, option_json, option_output
from certree.cli.words.terminal import emit, note, say, say_table, working
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically
from certree.models.cost.fitting.measurements import Measurement, measurements_csv, merged, unsteadiness


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise InputError(f"{text!r}: expected whole numbers, such as 2,3,4")
    return int(text)


NUMBERS = comma_list(_number)


@click.command("measure")
@click.option("--servers", type=NUMBERS, default="2,3,4,5,6", show_default=True, help="Processes joined by loopback TCP.")
@click.option("--floats", type=NUMBERS, default="100000,300000,1000000", show_default=True, help="Sizes of vectors.")
@click.option("--vectors", type=NUMBERS, default="2,3,4,6,8,12", show_default=True, help="Vectors added up at once.")
@click.option("--repetitions", type=COUNT, default=7, show_default=True, help="Runs of each configuration, beside a first one.")
@click.option("--threads", type=COUNT, default=1, show_default=True, help="That add up vectors.")
@option_output("the measurements, F.csv", required=True)
@option_json()
def measure_command(
    servers: list[int],
    floats: list[int],
    vectors: list[int],
    repetitions: int,
    threads: int,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Time additions of vectors in threads, and exchanges and co-located PS between processes over loopback sockets.

    Every run checks its sums. Ctrl-C keeps what was measured so far. On an idle computer of at least as many cores as servers times
    mean most: processes that share a core wait for each other.
    """
    from certree.hw.host.measuring import Benchmarks

    check_output(output, force=force)
    benchmarks = Benchmarks(tuple(servers), tuple(vectors), tuple(floats), repetitions, threads)
    measured: list[Measurement] = []
    try:
        with working("measuring") as tell:
            for runs in benchmarks.run():
                measured += runs
                one = runs[0]
                tell(f"{one.benchmark}, {one.participants} × {one.floats:,}: {_words(median(run.seconds for run in runs))}")
    finally:
        if measured:
            write_atomically(output, measurements_csv(measured), force=force)
            note(f"wrote {output}")
    differ = unsteadiness(measured)
    if differ is not None:
        note(differ)
    shown = merged(measured)
    if as_json:
        emit({"runs": len(measured), "medians": [vars(one) for one in shown]})
        return
    rows = [[one.benchmark, str(one.participants), f"{one.floats:,}", _words(one.seconds)] for one in shown]
    say_table(["benchmark", ">participants", ">floats", ">median"], rows)
    say(f"{len(measured)} runs of {len(shown)} configurations")


def _words(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f} µs"
