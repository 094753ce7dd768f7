"""`certree export`: Write a schedule as tables for network interfaces, or as a program for a communication runtime.
`certree import`: Read tables, a bundle or a program of a runtime back as a schedule.
"""

from pathlib import Path
from typing import Any

import click

from certree.api.bundles.checking import verify_bundle
from certree.api.bundles.documents import bundle_report, bundle_words
from certree.api.errors import InvalidScheduleError
from certree.api.inputs import read_schedule, verify_path
from certree.api.reports.text import counted
from certree.api.runtimes.kinds import kind_of
from certree.api.runtimes.programs import export_program, export_programs, network_of, verify_program
from certree.api.runtimes.reports import program_report, program_words
from certree.api.settings import setting
from certree.api.tables import export, row_bits
from certree.api.tuning.running import TABLE
from certree.cli.words.parameters import SIZE, TOPOLOGY, check_output, option_json, option_output, option_params, option_size
from certree.cli.words.progress import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, say, show
from certree.hw.formats.banks import HEADER_BITS
from certree.hw.runtimes.formats import load_runtime_formats
from certree.models.bundle.bundle import FRONTIER, is_bundle, load_bundle
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.programs.msccl import MAX_MESSAGE
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule
from certree.models.tables.table_columns import MAX_EPOCH
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
    output: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Write the tables of a schedule for a message size, or its program for a runtime; read them back and verify them."""
    if format_name in load_runtime_formats():
        if epoch is not None:
            raise InputError(f"a program for {format_name} has no epoch; --epoch does not apply")
        if load_runtime_formats()[format_name].suffix and (size is not None or machine is not None):
            raise InputError(f"a program for {format_name} is for any size; --size and --params do not apply")
        if (schedule / TABLE).is_file():
            return _export_tuned(schedule, format_name, output)
        sizes = None if smallest is largest is None else (smallest or 0, largest or MAX_MESSAGE)
        return _export_program(schedule, format_name, output, size, machine, sizes, force=force, as_json=as_json)
    if smallest is not None or largest is not None:
        raise InputError("--from and --to are for programs of runtimes")
    check_output(output, force=force, folder=True)
    source = read_schedule(schedule)
    used = setting(source, size, machine, note)
    try:
        tables = export(source, format_name, output, size=size, machine=machine, epoch=epoch, force=force)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, used, as_json=as_json)
    note(f"wrote {output}")
    effect = agreement_of_tables(tables)
    if effect is not None:
        note(f"the slots leave out what routers may add, which `certree simulate` shows: {effect}")
    document = {
        "encoding": format_name,
        "nodes": len(tables.topology.endpoints),
        "rows": len(tables.node),
        "chunk_bytes": tables.chunk_bytes,
        "padded_bytes": tables.chunk_bytes * message_chunks(tables) * tables.repeats,
        "slot_cycles": tables.slot_cycles,
        "profile": str(tables.profile),
        **({} if epoch is None else {"epoch": epoch, "header_bits": HEADER_BITS}),
        **row_bits(tables),
        "message_bytes": tables.message_bytes,
        "machine": tables.machine.name,
        "router_effect": effect,
        "schedule_digest": tables.schedule_digest,
    }
    show(document, export_words, as_json=as_json, then=("verify", output))
    return 0


def _export_program(
    schedule: Path,
    format_name: str,
    output: Path,
    size: int | None,
    machine: Machine | None,
    sizes: tuple[int, int] | None,
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Write the program of a schedule."""
    suffix = load_runtime_formats()[format_name].suffix
    if not suffix and output.exists():
        raise InputError(f"{output} exists; name a new folder")
    check_output(output, force=force, folder=not suffix, suffixes=(suffix,) if suffix else (), what=f"a {format_name} file")
    try:
        checked = export_program(schedule, format_name, output, size=size, machine=machine, sizes=sizes, force=force)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, setting(error.schedule), as_json=as_json)
    note(f"wrote {output}")
    show(program_report(checked), program_words, kind="program", as_json=as_json, then=("verify", output))
    return 0


def _export_tuned(tuned: Path, format_name: str, output: Path) -> int:
    """Write the programs of all ranges of a tuning."""
    check_output(output, force=False, folder=True)
    for path, (smallest, largest), _ in export_programs(tuned, format_name, output):
        say(f"{path}: {smallest:,} to {largest:,} bytes")
    note(f"wrote {output}")
    return 0


def export_words(report: dict[str, Any]) -> str:
    """A report for people."""
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
    if kind_of(directory) is not None:
        return _import_program(directory, topology, root, output, force=force, as_json=as_json)
    if topology is not None or root is not None:
        raise InputError(f"{directory}: --topology and --root are for programs of a runtime")
    if is_bundle(directory):
        return _import_bundle(directory, output, force=force, as_json=as_json)
    check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    if not directory.is_dir():
        raise click.UsageError(f"{directory} is not a tables directory or a bundle")
    checked = verify_path(directory)
    if checked.verdict.valid:
        save_any_schedule(checked.schedule, output, force=force)
        note(f"wrote {output}")
    used = setting(checked.schedule)
    return show_schedule(
        checked.schedule, checked.verdict, used, slot_cycles=checked.slot_cycles, as_json=as_json, then=("verify", output)
    )


def _import_program(path: Path, topology: Topology | None, root: int | None, output: Path, *, force: bool, as_json: bool) -> int:
    """Write the schedule of a program, once it is executed and the schedule is verified."""
    check_output(output, force=force, suffixes=SUFFIXES, what="a schedule file")
    checked = verify_program(path, topology=network_of(topology, path), root=root)
    if checked.schedule is None or checked.verdict is None:
        show(program_report(checked.program), program_words, kind="program", as_json=as_json)
        return 1
    if checked.verdict.valid:
        save_any_schedule(checked.schedule, output, force=force)
        note(f"wrote {output}")
    return show_schedule(checked.schedule, checked.verdict, setting(checked.schedule), as_json=as_json, then=("verify", output))


def _import_bundle(path: Path, output: Path, *, force: bool, as_json: bool) -> int:
    """Write the schedule or the frontier of a bundle once every item is re-checked."""
    is_frontier = load_bundle(path).kind == "frontier"
    suffixes, what = (SUFFIXES[:2], "a frontier") if is_frontier else (SUFFIXES, "a schedule file")
    check_output(output, force=force, suffixes=suffixes, what=what)
    with working("re-checking"):
        verdict = verify_bundle(path)
    if verdict.valid:
        if is_frontier:
            write_atomically(output, verdict.bundle.members[FRONTIER], force=force)
        else:
            save_any_schedule(verdict.bundle.schedule, output, force=force)
        note(f"wrote {output}")
    show(bundle_report(verdict), bundle_words, kind="bundle", as_json=as_json, then=("verify", output))
    return 0 if verdict.valid else 1
