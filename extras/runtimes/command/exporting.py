"""Programs of runtimes among the formats of `certree export`."""

import shlex
from pathlib import Path

from certree.api.api_errors import InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.api.settings import setting
from certree.cli.words.parameters import check_output
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, say, show
from certree.extras.runtimes.formats.program_format import load_program_formats
from certree.extras.runtimes.programs import TABLE, export_program, export_programs, require_size_applies
from certree.extras.runtimes.reports import program_report, program_words
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine


def export_as_program(
    schedule: Path,
    format_name: str,
    output: Path,
    size: int | None,
    machine: Machine | None,
    limits: tuple[int | None, int | None],
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Write the program of a schedule, or the programs of a folder that `tune` wrote. `limits`: the smallest and the largest
    message for which the runtime takes the file."""
    entry, (smallest, largest) = load_program_formats()[format_name], limits
    sizes = None if smallest is largest is None else (smallest or 0, largest or entry.no_end)
    require_size_applies(entry, size, machine, sizes)
    if (schedule / TABLE).is_file():
        return _export_tuned(schedule, format_name, output)
    return _export_program(schedule, format_name, output, size, machine, sizes, force=force, as_json=as_json)


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
    suffix = load_program_formats()[format_name].suffix
    if not suffix and output.exists():
        raise InputError(f"{output} exists; name a new folder")
    check_output(output, force=force, folder=not suffix, suffixes=(suffix,) if suffix else (), what=f"a {format_name} file")
    made = schedule_of(schedule)
    try:
        checked = export_program(made, format_name, output, size=size, machine=machine, sizes=sizes, force=force)
    except InvalidScheduleError as error:
        return show_schedule(error.schedule, error.verdict, setting(error.schedule), as_json=as_json)
    note(f"wrote {output}")
    if suffix and (made.has_fine_slots or made.repeats > 1):
        command = shlex.join(["certree", "import", str(output), "--topology", made.topology.name, "-o", "P.json"])
        note(f"the program has the order of the transfers, not their times; {command} makes a schedule of that order")
    show(program_report(checked, format_name), program_words, kind="program", as_json=as_json, then=("verify", output))
    return 0


def _export_tuned(tuned: Path, format_name: str, output: Path) -> int:
    """Write the programs of all ranges of a tuning."""
    check_output(output, force=False, folder=True)
    for path, (smallest, largest), _ in export_programs(tuned, format_name, output):
        say(f"{path}: {smallest:,} to {largest:,} bytes")
    note(f"wrote {output}")
    return 0
