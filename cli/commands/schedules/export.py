"""`certree export` (hand over): Write a schedule as tables for network interfaces, or as a program for a communication runtime.
`certree import` (hand over): Read tables, a bundle or a program of a runtime back as a schedule.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from certree.api.api_errors import InvalidScheduleError
from certree.api.artefacts import Asked, opened_kind
from certree.api.inputs import schedule_of
from certree.api.reports.text import counted
from certree.api.settings import setting
from certree.api.table_export import export, row_bits
from certree.cli.words.parameters import SIZE, TOPOLOGY, check_output, option_json, option_output, option_params, option_size
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import show_checked, show_schedule
from certree.cli.words.terminal import note, show
from certree.hw.formats import load_formats
from certree.hw.formats.banks import HEADER_BITS
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.common.files import write_atomically
from certree.models.fine.fine_tolerance import skew_tolerance
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.tables.table_columns import CONTROLS, MAX_EPOCH, SLOTTED
from certree.models.tables.table_memory import message_chunks
from certree.verify.order.agreement import agreement_of_tables


@click.command("export")
@click.argument("schedule", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_name",
    default="readmemh",
    show_default=True,
    help="Format of tables or of a runtime; `certree list` names them.",
)
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--from", "smallest", type=SIZE, help="For a program: the smallest message for which the runtime takes the file.")
@click.option("--to", "largest", type=SIZE, help="For a program: the largest one.")
@click.option("--epoch", type=click.IntRange(0, MAX_EPOCH),
              help="Number of this export: gives the image of each node a header with it and a CRC-32.")  # fmt: skip
@click.option("--control", type=click.Choice(CONTROLS), default=SLOTTED, show_default=True,
              help="What fires the rows of systemverilog's interface: slots, or the timestep counter of MultiTree.")  # fmt: skip
@option_output("the tables (a new folder) or the program (a file)", required=True)
@option_json()
def export_command(
    schedule: Path,
    format_name: str,
    size: int | None,
    machine: Machine | None,
    smallest: int | None,
    largest: int | None,
    epoch: int | None,
    control: str,
    output: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Write the tables of a schedule for a message size, or its program for a runtime; read them back and verify them."""
    if format_name not in load_formats() and format_name in provided("formats of programs")():
        if epoch is not None:
            raise InputError(f"a program for {format_name} has no epoch; --epoch does not apply")
        if control != SLOTTED:
            raise InputError(f"a program for {format_name} has no rows; --control does not apply")
        sizes = (smallest, largest)
        code: int = provided("export of programs")(
            schedule, format_name, output, size, machine, sizes, force=force, as_json=as_json
        )
        return code
    if smallest is not None or largest is not None:
        raise InputError("--from and --to are for programs of runtimes")
    check_output(output, force=force, folder=True)
    source = schedule_of(schedule)
    used = setting(source, size, machine, note)
    try:
        tables = export(source, format_name, output, size=size, machine=machine, epoch=epoch, control=control, force=force)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, used, as_json=as_json)
    note(f"wrote {output}")
    effect = agreement_of_tables(tables)
    if effect is not None:
        note(f"the slots leave out what routers may add, which `certree simulate` shows: {effect}")
    if control == SLOTTED and source.has_fine_slots and skew_tolerance(written_out(source)) == 0:
        note("right only where the counters of all nodes start in the same cycle; `certree synthesize --skew N` makes guards for N")
    document = {
        "encoding": format_name,
        "nodes": len(tables.topology.endpoints),
        "rows": len(tables.node),
        "chunk_bytes": tables.chunk_bytes,
        "padded_bytes": tables.chunk_bytes * message_chunks(tables) * tables.repeats,
        "slot_cycles": tables.slot_cycles,
        "profile": str(tables.profile),
        **({} if epoch is None else {"epoch": epoch, "header_bits": HEADER_BITS}),
        **({} if control == SLOTTED else {"control": control}),
        **row_bits(tables),
        "message_bytes": tables.message_bytes,
        "machine": tables.machine.name,
        "router_effect": effect,
        "schedule_digest": tables.schedule_digest,
    }
    show(document, export_words, as_json=as_json, then=("verify", output))
    return 0


def export_words(report: dict[str, Any]) -> str:
    """The report as text."""
    padding = report["padded_bytes"] - report["message_bytes"]
    return (
        f"{counted(report['rows'], 'rows')} for {counted(report['nodes'], 'nodes')};"
        f" chunks of {counted(report['chunk_bytes'], 'bytes')}, slots of {counted(report['slot_cycles'], 'cycles')};"
        f" {counted(padding, 'bytes')} of padding"
    )


@click.command("import")
@click.argument("directory", type=click.Path(path_type=Path), metavar="PATH")
@click.option("--topology", type=TOPOLOGY, help="The network of a program of a runtime; ranks are its endpoints.")
@click.option("--root", type=click.IntRange(0), help="The root of a program; by default the one that its data show.")
@option_output("the schedule", required=True)
@option_json()
def import_command(directory: Path, topology: Topology | None, root: int | None, output: Path, force: bool, as_json: bool) -> int:
    """Read tables, a bundle of evidence, or a program of a runtime (MSCCL XML, a plan of MSCCL++, Chakra traces; with
    --topology) back as a schedule. Nothing is written if it is invalid."""
    opened, kind = opened_kind(directory)
    if (topology is not None or root is not None) and not kind.on_any_network:
        raise InputError(f"{directory}: --topology and --root are for programs of a runtime")
    if not kind.imports:
        raise click.UsageError(f"{directory} is not a tables directory, a bundle or a program of a runtime")
    if kind.on_any_network and topology is None:
        raise InputError(f"{directory}: a program does not say its network; give it with --topology")
    suffixes = kind.import_suffixes(opened)
    check_output(output, force=force, suffixes=suffixes, what="a schedule file" if ".npz" in suffixes else "a frontier")
    with working("checking") as tell:
        checked = kind.verify(opened, Asked(topology, root=root, tell=tell))
    if checked.valid:
        if isinstance(checked.result, bytes):
            write_atomically(output, checked.result, force=force)
        else:
            save_any_schedule(checked.schedule, output, force=force)
        note(f"wrote {output}")
    return show_checked(replace(checked, before=None, then=("verify", output)), as_json=as_json)
