"""`certree verify`: Judge a schedule, a CSV, a tables directory or a frontier."""

from pathlib import Path

import click

from certree.api.frontiers import verify_frontier, write_proofs
from certree.api.inputs import is_bundle, verify_path
from certree.api.reports.frontiers import frontier_report, frontier_words
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
from certree.cli.words.schedules import show_schedule
from certree.cli.words.terminal import note, show
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective


@click.command("verify")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--topology", type=TOPOLOGY, help="The network it must be for; a CSV does not say.")
@option_collective(required=False, help_text="The collective it must be; a CSV does not say.")
@option_route()
@option_size(recorded=True)
@option_params(recorded=True)
@click.option(
    "--proofs", type=click.Path(path_type=Path), help="A new folder for a frontier's formulas and proofs: DIMACS, DRAT, VeriPB."
)
@option_json()
def verify_command(
    path: Path,
    topology: Topology | None,
    collective: Collective | None,
    route: str | None,
    size: int | None,
    machine: Machine | None,
    proofs: Path | None,
    as_json: bool,
) -> int:
    """Judge a schedule file, a CSV (with --topology and --collective), a tables directory or a frontier with its evidence.

    Everything is recomputed, certificates and proofs included. The time is that for the size and machine that the schedule was made
    for, or for those given; that of tables, in the slots that they state. Exit code 0: valid; 1: refuted, with the reasons.
    """
    if is_bundle(path):
        if size is not None or machine is not None:
            raise InputError(f"{path}: a frontier is of steps and rounds; --size and --params do not apply")
        return _verify_frontier(path, topology, collective, proofs, as_json=as_json)
    if proofs is not None:
        raise InputError(f"{path}: only a frontier has proofs to write")
    if path.is_dir() and (size is not None or machine is not None):
        raise InputError(f"{path}: tables are made for one size and machine; --size and --params do not apply")
    checked = verify_path(path, topology, collective, route)
    used = setting(checked.schedule, size, machine, note if checked.verdict.valid else silent)
    then = ("simulate", path) if path.is_dir() else () if path.suffix == ".csv" else ("export", path, "-o", "tables")
    return show_schedule(checked.schedule, checked.verdict, used, slot_cycles=checked.slot_cycles, as_json=as_json, then=then)


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
