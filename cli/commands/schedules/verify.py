"""`certree verify`: Check schedules, CSVs, tables directories, programs of runtimes, frontiers and bundles."""

from pathlib import Path
from typing import Any

import click

from certree.api.batches import reports
from certree.api.batches.paths import Batch, is_batch, verify_all
from certree.api.bundles.checking import verify_bundle
from certree.api.bundles.documents import bundle_report, bundle_words
from certree.api.bundles.evidence import TRUST
from certree.api.frontiers import verify_frontier, write_proofs
from certree.api.inputs import is_frontier, verify_path
from certree.api.reports.frontiers import frontier_report, frontier_words
from certree.api.reports.text import collective_words, one_line
from certree.api.runtimes.kinds import kind_of
from certree.api.runtimes.programs import verify_program
from certree.api.runtimes.reports import program_report, program_words
from certree.api.settings import setting, silent
from certree.cli.words.parameters import (
    TOPOLOGY,
    check_output,
    option_collective,
    option_json,
    option_params,
    option_route,
    option_size,
)
from certree.cli.words.progress import working
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, show
from certree.models.bundle.bundle import is_bundle
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


@click.command("verify")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PATH...")
@click.option("--topology", type=TOPOLOGY, help="The network that it must be for; required for a CSV.")
@option_collective(required=False, members=True, help_text="The collective that it must be; required for a CSV.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@click.option(
    "--proofs", type=click.Path(path_type=Path), help="A new folder for a frontier's formulas and proofs: DIMACS, DRAT, VeriPB."
)
@click.option(
    "--trust",
    type=click.Choice(TRUST),
    help="Of a bundle, what is taken on trust: by default results of TLC, by the hashes of tool and modules; none runs TLC again.",
)
@click.option("--junit", type=click.Path(path_type=Path), help="Write a JUnit XML report with a test case for each path.")
@click.option("--sarif", type=click.Path(path_type=Path), help="Write a SARIF 2.1.0 log with a result for each violation.")
@click.option("--force", is_flag=True, help="Overwrite the report and the log.")
@option_json()
def verify_command(
    paths: tuple[Path, ...],
    topology: Topology | None,
    collective: Collective | None,
    route: str | None,
    size: int | None,
    machine: Machine | None,
    proofs: Path | None,
    trust: str | None,
    junit: Path | None,
    sarif: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Check schedule files, CSVs (with --topology and --collective), tables directories, frontiers, bundles of evidence and
    programs of communication runtimes (MSCCL XML, plans of MSCCL++, Chakra traces).

    Several paths, and files found in folders, get a line each. An unreadable file does not stop the check of the others.

    Everything is recomputed, certificates and proofs included. The time is for the size and machine that the schedule was made for,
    or for those given; for tables, with the slots that they state. A bundle gets a line for each item: what was re-checked, run
    again, or taken on trust. A program of any tool is executed; with --topology its schedule on that network gets bounds and
    times. Exit code 0: valid; 1: invalid, with the reasons; 3: undecided, since
    the check would take more steps or memory than the budget of a file has.
    """
    for report in (junit, sarif):
        check_output(report, force=force)
    is_program = len(paths) == 1 and kind_of(paths[0]) is not None
    if junit is not None or sarif is not None or (is_batch(paths) and not is_program):
        if proofs is not None:
            raise InputError("--proofs is for a single frontier")
        if trust is not None:
            raise InputError("--trust is for a single bundle")
        with working("verifying"):
            batch = verify_all(*paths, topology=topology, collective=collective, route=route, size=size, machine=machine)
        for file, written in ((junit, reports.junit), (sarif, reports.sarif)):
            if file is not None:
                write_atomically(file, written(batch), force=force)
                note(f"wrote {file}")
        return _show_batch(batch, as_json=as_json)
    path = paths[0]
    if is_bundle(path):
        if size is not None or machine is not None or proofs is not None:
            raise InputError(f"{path}: a bundle states its size and machine; --size, --params and --proofs do not apply")
        with working("re-checking") as tell:
            verdict = verify_bundle(path, trust=trust or TRUST[0], topology=topology, collective=collective, tell=tell)
        show(bundle_report(verdict), bundle_words, kind="bundle", as_json=as_json, then=("import", path, "-o", "schedule.json"))
        return 0 if verdict.valid else 1
    if trust is not None:
        raise InputError(f"{path}: --trust is for bundles; for anything else everything is recomputed")
    if is_frontier(path):
        if size is not None or machine is not None:
            raise InputError(f"{path}: a frontier is of steps and rounds; --size and --params do not apply")
        return _verify_frontier(path, topology, collective, proofs, as_json=as_json)
    if proofs is not None:
        raise InputError(f"{path}: only a frontier has proofs to write")
    if is_program:
        return _verify_program(path, topology, collective, size, machine, as_json=as_json)
    if path.is_dir() and (size is not None or machine is not None):
        raise InputError(f"{path}: tables are made for one size and machine; --size and --params do not apply")
    checked = verify_path(path, topology, collective, route, size=size, machine=machine)
    used = setting(checked.schedule, size, machine, note if checked.verdict.valid else silent)
    then = ("simulate", path) if path.is_dir() else () if path.suffix == ".csv" else ("export", path, "-o", "tables")
    return show_schedule(checked.schedule, checked.verdict, used, slot_cycles=checked.slot_cycles, as_json=as_json, then=then)


def _verify_program(
    path: Path,
    topology: Topology | None,
    collective: Collective | None,
    size: int | None,
    machine: Machine | None,
    *,
    as_json: bool,
) -> int:
    """Execute a program; with a network also report on the schedule that it executes there."""
    if topology is None and (size is not None or machine is not None):
        raise InputError(f"{path}: times need a network; give --topology with --size and --params")
    checked = verify_program(path, topology=topology, collective=collective)
    report = program_report(checked.program)
    if checked.schedule is None or checked.verdict is None:
        then = ("verify", path, "--topology", "NETWORK") if checked.program.valid and topology is None else ()
        show(report, program_words, kind="program", as_json=as_json, then=then)
        return 0 if checked.program.valid else 1
    note(program_words(report))
    used = setting(checked.schedule, size, machine, note)
    return show_schedule(checked.schedule, checked.verdict, used, as_json=as_json)


def _show_batch(batch: Batch, *, as_json: bool) -> int:
    """Print one line per path and the totals; returns the exit code."""
    show(batch.document(), _batch_words, as_json=as_json, kind="verify-batch")
    for path in batch.skipped:
        note(f"{path}: skipped: a CSV does not say its network; give --topology and --collective, or name the file")
    for undecided, words in ((False, "could not be read"), (True, "are undecided")):
        count = sum(one.error is not None and one.undecided is undecided for one in batch.checked)
        if count:
            note(f"error: {count} of {len(batch.checked)} {words}")
    return batch.exit_code


def _batch_words(document: dict[str, Any]) -> str:
    """The lines for people."""
    lines = []
    for file in document["files"]:
        name = one_line(file["path"])
        if "error" in file:
            kind = "undecided" if file.get("undecided") else "unreadable"
            lines.append(f"{kind}: {name}: {one_line(file['error']).removeprefix(f'{name}: ')}")
            continue
        what = f"{name}: {collective_words(file)} on {one_line(file['topology'])}"
        lines.append(f"{'valid' if file['valid'] else 'invalid'}: {what}")
        lines += [f"  {one['rule']}: {one['message']}" for one in file.get("violations", [])]
    return "\n".join([*lines, f"{sum(file['valid'] for file in document['files'])} of {len(document['files'])} valid"])


def _verify_frontier(
    path: Path, topology: Topology | None, collective: Collective | None, proofs: Path | None, *, as_json: bool
) -> int:
    """Verify a frontier; it must be of the network and the collective where these are given."""
    if proofs is not None:
        check_output(proofs, force=False, folder=True)
    verdict = verify_frontier(path, topology, collective)
    if proofs is not None and verdict.valid:
        note(f"wrote {write_proofs(verdict, proofs)} formulas and their proofs to {proofs}")
    show(frontier_report(verdict), frontier_words, kind="frontier", as_json=as_json)
    return 0 if verdict.valid else 1
