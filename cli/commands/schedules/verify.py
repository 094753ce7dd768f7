"""`certree verify` (check): Check schedules, CSVs, tables directories, programs of runtimes, frontiers and bundles."""

from pathlib import Path
from typing import Any

import click

from certree.api.artefacts import Asked, Checked, opened_kind
from certree.api.checks import reports
from certree.api.checks.path_verdicts import Batch, is_batch, verify_all
from certree.api.checks.proofs import has_proofs, write_proofs
from certree.api.reports.text import collective_words, one_line, place_words
from certree.cli.words.parameters import (
    TOPOLOGY,
    check_output,
    option_collective,
    option_json,
    option_params,
    option_route,
    option_size,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.schedules import show_checked
from certree.cli.words.terminal import note, show
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.common.files import write_atomically
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.verify.frontier.document import FrontierVerdict

_UNANSWERED = {"unreadable": "could not be read", "undecided": "are undecided", "internal error": "ended in an internal error"}


@click.command("verify")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PATH...")
@click.option("--topology", type=TOPOLOGY, help="The network that it must be for; required for a CSV.")
@option_collective(required=False, members=True, help_text="The collective that it must be; required for a CSV.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--proofs", type=click.Path(path_type=Path), help="New folder for formulas and proofs, as DIMACS, DRAT, VeriPB.")
@click.option("--proved", is_flag=True, help="Also run the checker that is proved in Coq, on a schedule; needs Coq and OCaml.")
@click.option("--second-opinion", is_flag=True, help="Also ask a checker written separately, in plain Python, of a schedule.")
@click.option(
    "--trust",
    type=click.Choice(["hashes", "none"]),
    help="Of a bundle, what is taken on trust: by default results of TLC, by the hashes of tool and modules; none runs TLC again.",
)
@click.option("--executor", metavar="NAME", help="Of a program, whose limits it must keep: msccl-0.7.4, rccl or mscclpp-0.9.")
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
    proved: bool,
    second_opinion: bool,
    trust: str | None,
    executor: str | None,
    junit: Path | None,
    sarif: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Check schedule files, CSVs (with --topology and --collective), tables directories, frontiers, bundles of evidence and
    programs of communication runtimes (MSCCL XML, plans of MSCCL++, Chakra traces).

    Several paths, and files found in folders, get a line each. An unreadable file does not stop the check of the others, nor does a
    bug in certree.

    Everything is recomputed, certificates and proofs included. The time is for the size and machine that the schedule was made for,
    or for those given; for tables, with the slots that they state. A bundle gets a line for each item: what was re-checked, run
    again, or taken on trust. A program of any tool is executed, and its data decide, with limits of an executor where one is named.
    With --topology its schedule on that network gets bounds and times. Exit code 0: valid; 1: invalid; 3: undecided, for its size.
    """
    for report in (junit, sarif):
        check_output(report, force=force)
    if junit is not None or sarif is not None or is_batch(paths):
        single = {"proofs": (proofs, "frontier"), "trust": (trust, "bundle"), "proved": (proved, "schedule")}
        for name, (given, what) in (single | {"second-opinion": (second_opinion, "schedule")}).items():
            if given:
                raise InputError(f"--{name} is for a single {what}")
        with working("verifying"):
            batch = verify_all(
                *paths, topology=topology, collective=collective, route=route, size=size, machine=machine, executor=executor
            )
        for file, written in ((junit, reports.junit), (sarif, reports.sarif)):
            if file is not None:
                write_atomically(file, written(batch), force=force)
                note(f"wrote {file}")
        return _show_batch(batch, as_json=as_json)
    opened, kind = opened_kind(paths[0])
    if proofs is not None:
        check_output(proofs, force=False, folder=True)
    root = None if collective is None else collective.root
    with working(f"verifying {paths[0]}") as tell:
        asked = Asked(topology, collective, root, route, size, machine, trust, executor, tell)
        kind.require_applicable(opened, asked)
        found = kind.verify(opened, asked)
        checked = provided("the answer of the proved checker")(found) if proved else found
    if proofs is not None:
        _write_proofs(paths[0], checked, proofs)
    return (provided("a second opinion") if second_opinion else show_checked)(checked, as_json=as_json)


def _write_proofs(path: Path, checked: Checked, folder: Path) -> None:
    """Write the proofs of a valid frontier or schedule."""
    found = checked.verdict if isinstance(checked.verdict, FrontierVerdict) else checked.result
    if not has_proofs(found):
        raise InputError(
            f"{path}: only a frontier, or a certificate of an optimum or of the fewest steps or cycles, has proofs to write"
        )
    if checked.valid:
        note(f"wrote {write_proofs(found, folder)} formulas and their proofs to {folder}")


def _show_batch(batch: Batch, *, as_json: bool) -> int:
    """Print one line per path and the totals; returns the exit code."""
    show(batch.document(), _batch_words, as_json=as_json, kind="verify-batch")
    for path in batch.skipped:
        note(f"{path}: skipped: a CSV does not say its network; give --topology and --collective, or name the file")
    for path in batch.networks:
        note(f"{path}: skipped: a network has nothing to verify")
    for reason, words in _UNANSWERED.items():
        if count := sum(one.error is not None and one.reason == reason for one in batch.checked):
            note(f"error: {count} of {len(batch.checked)} {words}")
    return batch.exit_code


def _batch_words(document: dict[str, Any]) -> str:
    """The report as lines of text."""
    lines = []
    for file in document["files"]:
        name = one_line(file["path"])
        if "error" in file:
            kind = "internal error" if file.get("internal") else "undecided" if file.get("undecided") else "unreadable"
            lines.append(f"{kind}: {name}: {one_line(file['error']).removeprefix(f'{name}: ')}")
            continue
        what = f"{name}: {collective_words(file)} {place_words(file)}"
        lines.append(f"{'valid' if file['valid'] else 'invalid'}: {what}")
        lines += [f"  {one['rule']}: {one['message']}" for one in file.get("violations", [])]
    return "\n".join([*lines, f"{sum(file['valid'] for file in document['files'])} of {len(document['files'])} valid"])
