"""`certree train` (run): Time the training of a workload, with collectives that overlap with computing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from certree.cli.words.parameters import (
    COUNT,
    Parsed,
    argument_topology,
    check_output,
    key_values,
    option_json,
    option_params,
    option_without_routers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note, show
from certree.extras.endpoints.model.endpoint import Endpoint, load_endpoint
from certree.extras.endpoints.run.endpoint_runs import PROGRAMS
from certree.extras.joint.model.collective_list import save_collectives
from certree.extras.reports.pages.report import SUFFIXES, report
from certree.extras.training.model.queue import Order
from certree.extras.training.model.workload_file import WORKLOADS
from certree.extras.training.run.joint_lists import joint_list
from certree.extras.training.run.reports import training_document, training_words, write_timeline
from certree.extras.training.run.running import train
from certree.extras.training.run.settings import TIMINGS
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.timing import FRAMINGS

ENDPOINT, NAME = Parsed("endpoint", load_endpoint), Parsed("workload", str, WORKLOADS.names)


@click.command("train")
@click.argument("workload", type=NAME)
@argument_topology()
@click.option("--method", "methods", multiple=True, metavar="[KIND=]METHOD[:NAME=VALUE]",
              help="For all collectives, or those of a kind (repeatable); auto by default.")  # fmt: skip
@click.option("--timing", type=click.Choice(list(map(str, TIMINGS))), default="closed-form", show_default=True,
              help="Source of the times of collectives.")  # fmt: skip
@click.option("--flow", type=click.Choice(FRAMINGS), default="message", show_default=True,
              help="Simulated: chunks travel as messages or as packets.")  # fmt: skip
@option_params()
@option_without_routers()
@click.option("--endpoints", "endpoint", type=ENDPOINT, default="ace", show_default=True,
              help="For --timing endpoints: a preset or a TOML file.")  # fmt: skip
@click.option("--system", default="ace", show_default=True, help="For --timing endpoints: the system that runs collectives.")
@click.option("--program", type=click.Choice(PROGRAMS), default="auto", show_default=True,
              help="For --timing endpoints: tables, on the machine of simulate; messages; or auto: "
                   "tables where the run and its changes have them.")  # fmt: skip
@click.option("--group", "groups", multiple=True, callback=key_values, metavar="GROUP=TOPOLOGY|LIST",
              help="The network of a group of the workload, or its endpoints in TOPOLOGY such as 0,2,4-7, or 0-3;4-7 for all "
                   "groups of ranks; its links are its own (repeatable).")  # fmt: skip
@click.option("--accelerator", multiple=True, metavar="NAME|FIELD=VALUE",
              help="What computes shapes and transformers: h100, mi300x, tpu-v5p, ..., efficiency=0.6 of its peak; or systolic "
                   "arrays: rows, columns, arrays, clock_hertz, dataflow, batch, ... (repeatable).")  # fmt: skip
@click.option("--iterations", type=COUNT, default=2, show_default=True, help="Run N iterations.")
@click.option("--order", type=click.Choice(list(map(str, Order))), default="fifo", show_default=True,
              help="Which collective goes first.")  # fmt: skip
@click.option("--pieces", type=COUNT, default=1, show_default=True, help="Cut each collective into N parts.")
@click.option("--shared-links", "shared", is_flag=True,
              help="Collectives of all groups take turns, as if every group used all links.")  # fmt: skip
@click.option("--joint-links", "joint", is_flag=True,
              help="Collectives of all groups of ranks run at once, as in joint schedules; with --shared-links those of one kind "
                   "of groups.")  # fmt: skip
@click.option("--overlap/--no-overlap", default=True, show_default=True,
              help="One collective for the gradients of each layer, or one for all of them after an iteration.")  # fmt: skip
@click.option("--compute", default="1", show_default=True, metavar="FACTOR", help="The accelerator computes FACTOR times as fast.")
@click.option("--what-if", multiple=True, metavar="NAME=VALUE",
              help="Time the run with a change, too (repeatable): method=, method=each, topology=, timing=, system=, system=each, "
                   "order=, pieces=, bandwidth=2, latency=, compute=, communication=free, overlap=none, links=shared, links=joint, "
                   "or a group=.")  # fmt: skip
@click.option("--trace", type=click.Path(path_type=Path), help="Write a timeline for ui.perfetto.dev, F.json.")
@click.option("--report", "page", type=click.Path(path_type=Path), help="Write a page with the timeline, F.html.")
@click.option("--write-workload", "collectives", type=click.Path(path_type=Path),
              help="Write the collectives of an iteration, of all groups of ranks, for synthesize --workload, F.toml.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite what is written.")
@option_json()
def train_command(
    workload: str,
    topology: Topology,
    methods: Sequence[str],
    timing: str,
    flow: str,
    machine: Machine | None,
    without_routers: bool,
    endpoint: Endpoint,
    system: str,
    program: str,
    groups: Mapping[str, str],
    accelerator: Sequence[str],
    iterations: int,
    order: str,
    pieces: int,
    shared: bool,
    joint: bool,
    overlap: bool,
    compute: str,
    what_if: Sequence[str],
    trace: Path | None,
    page: Path | None,
    collectives: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Time the training of a workload on a network: compute, exposed communication by layer, use of the network.

    WORKLOAD: a name (`certree list` has all), a TOML file, a SCALE-Sim table (.csv), an ASTRA-sim 1.0 text (.txt), or
    transformer:layers=N,width=N,heads=N,sequence=N with batch, tensor, data, pipeline, expert, micro_batches, vocabulary.
    """
    check_output(trace, force=force, suffixes=(".json", ".json.gz"), what="a timeline")
    check_output(page, force=force, suffixes=SUFFIXES, what="a report")
    check_output(collectives, force=force, suffixes=(".toml",), what="a list of collectives")
    with working("training") as tell:
        run = train(
            workload, topology, groups=groups, accelerator=accelerator, method=methods, timing=timing, flow=flow,
            without_routers=without_routers, system=system, endpoint=endpoint, program=program, machine=machine,
            iterations=iterations, order=order, pieces=pieces, shared=shared, joint=joint, overlap=overlap, compute=compute,
            what_if=what_if, listed=collectives is not None, progress=tell,
        )  # fmt: skip
    if collectives is not None:
        save_collectives(joint_list(run), collectives, force=force)
        note(f"wrote {collectives}")
    if trace is not None:
        write_timeline(run, trace, force=force)
        note(f"wrote {trace}")
    if page is not None:
        report(run, page, force=force)
        note(f"wrote {page}")
    show(training_document(run), training_words, as_json=as_json)
