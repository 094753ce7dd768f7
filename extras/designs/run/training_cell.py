"""An iteration of the training of a workload, as a cell on a worker."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.reports.text import counted, size_words
from certree.extras.sweeps.run.measure import NOT_APPLICABLE, VALID
from certree.extras.training.model.workload_file import WORKLOADS, load_workload
from certree.extras.training.run.running import train
from certree.extras.training.run.runs import TrainingRun, run_settings
from certree.extras.training.run.settings import Settings, Timing
from certree.extras.workers.networks import received
from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.common.files import sha256
from certree.models.machine.machine import Machine, machine_from_document
from certree.models.network.topology import Topology


def workload_digest(name: str) -> str:
    """The digest of the file of a workload, on which its time depends besides its name; empty where it is not a file."""
    load_workload(name)  # refuses what is none
    path = Path(name)
    return sha256(path.read_bytes()) if name not in WORKLOADS.names() and path.is_file() else ""


def trained(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of an iteration, of its compute and of exposed communication, as exact texts; or why the workload does not run."""
    topology, _ = received(arguments)
    try:
        run: TrainingRun = train(
            arguments["workload"],
            topology,
            method=arguments["method"],
            machine=machine_from_document(arguments["machine"], "machine"),
        )
    except (UnsupportedError, UndecidedError) as error:
        return {"status": NOT_APPLICABLE, "message": str(error)}
    return _result(run)


def from_grid(workload: str, topology: Topology, machine: Machine, points: Sequence[tuple[int, Fraction]]) -> dict[str, Any]:
    """The result of a workload by times of all-reduces that are known: (bytes, seconds), ascending."""
    try:
        settings = Settings(load_workload(workload), topology, machine, timing=Timing.MEASURED, measured=tuple(points))
        return {**_result(run_settings(settings)), "message": _beyond(settings)}
    except UnsupportedError as error:
        return {"status": NOT_APPLICABLE, "message": str(error)}


def _beyond(settings: Settings) -> str | None:
    """How many sizes of a workload the grid does not enclose, in words; None where it does."""
    sizes = sorted({asked.bytes for asked in settings.workload.communications()})
    least, most = settings.measured[0][0], settings.measured[-1][0]
    beyond = [size for size in sizes if not least <= size <= most]
    if not beyond:
        return None
    grid, its = (f"{size_words(ends[0])} to {size_words(ends[-1])}" for ends in ((least, most), sizes))
    lines = "their times are on the line through the nearest two sizes"
    return f"{len(beyond)} of {counted(len(sizes), 'sizes')} of its all-reduces, {its}, are beyond the grid, {grid}, and {lines}"


def _result(run: TrainingRun) -> dict[str, Any]:
    return {
        "status": VALID,
        "iteration_seconds": str(run.iteration_seconds),
        "compute_seconds": str(run.compute_seconds),
        "exposed_seconds": str(run.exposed_seconds),
    }
