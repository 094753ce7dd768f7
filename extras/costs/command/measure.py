"""`certree measure` (study): Benchmarks on this computer, for fit."""

from pathlib import Path

import click

from certree.api.reports.text import microseconds_words
from certree.cli.words.parameters import COUNT, check_output, comma_list, option_json, option_output
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, next_step, note, say
from certree.extras.costs.model.fitting.measurements import merged, unsteadiness
from certree.extras.costs.run.fitting import DEVICES, measure
from certree.models.common.errors import InputError


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise InputError(f"{text!r}: expected whole numbers, such as 2,3,4")
    return int(text)


NUMBERS = comma_list(_number)


@click.command("measure")
@click.option("--servers", type=NUMBERS, default="2,3,4,5,6", show_default=True, help="Processes joined by loopback TCP.")
@click.option("--floats", type=NUMBERS, default="100000,300000,1000000", show_default=True, help="Sizes of vectors.")
@click.option("--vectors", type=NUMBERS, default="2,3,4,6,8,12", show_default=True, help="Vectors added up at once.")
@click.option("--repetitions", type=COUNT, default=7, show_default=True, help="Timed runs per configuration (after one warm-up).")
@click.option("--threads", type=COUNT, default=1, show_default=True, help="Threads that add up vectors.")
@click.option("--device", type=click.Choice(DEVICES), default="auto", show_default=True,
              help="What adds up vectors; auto takes a GPU where CuPy or PyTorch finds one.")  # fmt: skip
@option_output("the measurements, F.csv", required=True)
@option_json()
def measure_command(
    servers: list[int],
    floats: list[int],
    vectors: list[int],
    repetitions: int,
    threads: int,
    device: str,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Time vector additions on the CPU or a GPU, and exchanges and co-located PS between processes over loopback sockets.

    Every run checks its sums. Ctrl-C keeps the measurements so far. Use an idle computer with at least as many cores as servers:
    processes that share a core wait for each other.
    """
    check_output(output, force=force, suffixes=(".csv",), what="a file of measurements")
    with working("measuring") as tell:
        measured = measure(
            servers, floats, vectors, repetitions=repetitions, threads=threads, device=device, output=output, force=force,
            progress=tell,
        )  # fmt: skip
    differ = unsteadiness(measured)
    if differ is not None:
        note(differ)
    shown = merged(measured)
    if as_json:
        emit({"runs": len(measured), "medians": [vars(one) for one in shown]})
        return
    rows = [[one.benchmark, str(one.participants), f"{one.floats:,}", microseconds_words(one.seconds)] for one in shown]
    say_table(["benchmark", ">participants", ">floats", ">median"], rows)
    say(f"{len(measured)} runs of {len(shown)} configurations")
    next_step("fit", output, "-o", "parameters.toml")
