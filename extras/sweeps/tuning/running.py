"""`tune`: the best schedule at each of many sizes, on workers, and the ranges between the sizes at which they take turns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.inputs import save
from certree.api.parsing import Network
from certree.api.reports.schedule_report import members_of
from certree.api.reports.text import rounded_of, size_words
from certree.api.settings import machine_for, silent
from certree.api.workers import Workers
from certree.extras.reports.make.plotting import NO_PLOTS, can_plot
from certree.extras.sweeps.tuning.curve import Found, Point, Range, entries, ranges, separate, spread
from certree.extras.sweeps.tuning.point import point
from certree.extras.workers.batch import run_tasks
from certree.extras.workers.networks import sent
from certree.extras.workers.store import claim
from certree.extras.workers.task import Task
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json, write_atomically
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_file import any_schedule_from_document

TABLE, CURVE, REQUEST = "table.json", "curve.svg", "request.json"
SMALLEST, LARGEST, MOST_POINTS = "1KiB", "1GiB", 64


@dataclass(frozen=True, repr=False)
class Tuned(Shown):
    """The result of a tuning. `table`: as table.json and `certree tune --json` have it; exact numbers as texts."""

    topology: Topology
    collective: Collective
    machine: Machine
    folder: Path
    table: dict[str, Any]

    def facts(self) -> dict[str, object]:
        """The method of each range."""
        return {f"{size_words(row['from'])} to {size_words(row['to'])}": row["method"] for row in self.table["ranges"]}

    @property
    def ranges(self) -> list[dict[str, Any]]:
        """The ranges, smallest sizes first: from, to (bytes, both included), method, file, times."""
        return list(self.table["ranges"])

    def file_for(self, size: int | str) -> Path:
        """The schedule that is the fastest found at a size; of sizes outside the table that of the nearest."""
        asked = parsing.size(size)
        row = next((row for row in self.table["ranges"] if asked <= row["to"]), self.table["ranges"][-1])
        return self.folder / str(row["file"])

    def plotted(self, suffix: str) -> bytes:
        """The plot as .svg or .png: time and time bound, and their quotient, over the size; a line for each method."""
        from certree.extras.reports.make.plots import figure_plot
        from certree.extras.sweeps.tuning.plot import plot

        return figure_plot(plot(self.table), f"{self.title()}, machine {self.machine.name}", suffix)


def tune(
    network: Network,
    output: str | Path,
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    smallest: int | str = SMALLEST,
    largest: int | str = LARGEST,
    factor: int = 2,
    machine: str | Path | Machine | None = None,
    effort: int = 1,
    seed: int = 0,
    workers: int | Workers | None = None,
    progress: Callable[[str], None] | None = None,
) -> Tuned:
    """The best schedule for every message size from `smallest` to `largest`, and the sizes at which the best one changes.

    Method auto runs at sizes that grow by `factor`; each schedule is also tried at the neighbouring sizes, booked anew where it has
    fine slots, and between two sizes with different schedules the crossover is found by bisection: to a flit for slots of one
    length, otherwise to 1/32 of the size. All files but times.csv are the same bytes wherever it ran. It costs as many syntheses as
    there are sizes.

    A demand is scaled to each size; a schedule for one size serves the smaller ones down to the one before, since none of their
    blocks is larger.

    Parameters
    ----------
    network, collective, root, machine, effort, seed
        As in `synthesize`.
    output : str or path
        A folder for table.json, curve.svg, the schedules, and a file for each size. The same call resumes from it after an
        interruption.
    smallest, largest : int or str
        The ends of the range of sizes.
    factor : int
        The ratio of two sizes that follow each other.
    workers : int or Workers, optional
        As in `sweep`.
    progress : callable, optional
        Receives lines of progress.

    Returns
    -------
    Tuned

    Raises
    ------
    InputError
        For anything malformed, and for a folder with something else in it.
    UnsupportedError
        Where no method applies.

    Examples
    --------
    >>> import certree.api as ct
    >>> tuned = ct.tune("ring:4", "tuned", smallest="1KiB", largest="1MiB", factor=32)
    >>> [(row["from"], row["to"], row["method"]) for row in tuned.ranges]
    [(1024, 2432, 'one-shot'), (2433, 79872, 'packing'), (79873, 1048576, 'packing')]
    """
    topology, asked = parsing.topology(network), parsing.collective(collective, root)
    asked.require_fits(topology)
    used, folder, tell = machine_for(topology, machine, progress or silent), Path(output), progress or silent
    sizes = grid(parsing.size(smallest), parsing.size(largest), factor)
    common = {**sent(topology, asked), "machine": used.document(), "effort": effort, "seed": seed}
    store = claim(folder, REQUEST, {**common, "sizes": sizes}, "a tuning")
    asks = {one["size"]: {**common, **one} for one in (_of_size(topology, asked, size, used) for size in sizes)}
    tasks = [Task(f"{topology.name} {size_words(size)}", point, arguments) for size, arguments in asks.items()]
    done = run_tasks(tasks, Workers.of(workers), store, tell).results
    points = _points([*asks], done)
    if asked.demand is None:
        points = spread(points, used)
        tell("looking for crossovers")
    between = ranges(points, used, tell) if asked.demand is None else separate(points)
    files = _written(folder, between)
    rows = [one.document() | {"file": files.get(one.found)} for one in points]
    table = {
        "topology": topology.name,
        "collective": asked.name,
        "root": asked.root,
        **members_of(asked),
        "machine": used.name,
        **rounded_of(topology),
        "ranges": entries(between, points, files, used),
        "points": rows,
    }
    tuned = Tuned(topology, asked, used, folder, table)
    named = {"format": "certree-tune-report", "version": 1, **table}
    write_atomically(folder / TABLE, canonical_json(named), force=True)
    if can_plot():
        write_atomically(folder / CURVE, tuned.plotted(".svg"), force=True)
    else:
        tell(NO_PLOTS)
    return tuned


def _of_size(topology: Topology, collective: Collective, size: int, machine: Machine) -> dict[str, Any]:
    """The arguments that a size adds to a task: its bytes, and for a demand the collective of that size."""
    if collective.demand is None:
        return {"size": size}
    demand = collective.demand.scaled(max(1, size // machine.flit_bytes))
    return {**sent(topology, replace(collective, demand=demand)), "size": demand.granules * machine.flit_bytes}


def grid(smallest: int, largest: int, factor: int) -> list[int]:
    """Sizes from the smallest to the largest, each `factor` times the one before; InputError where there are none, or too many."""
    if factor < 2:
        raise InputError(f"factor is {factor}; allowed: whole numbers from 2")
    if largest < smallest:
        raise InputError(f"sizes from {smallest} to {largest} bytes: the largest is below the smallest")
    sizes = [smallest]
    while sizes[-1] * factor < largest:
        sizes.append(sizes[-1] * factor)
    sizes += [largest] if largest > smallest else []
    if len(sizes) > MOST_POINTS:
        raise InputError(f"{len(sizes)} sizes; allowed: {MOST_POINTS} at most, by a larger factor or a smaller range")
    return sizes


def _points(sizes: list[int], done: tuple[Mapping[str, Any], ...]) -> list[Point]:
    """The points as they were found; equal schedules are one."""
    known: dict[str, Found] = {}
    points = []
    for size, result in zip(sizes, done, strict=True):
        schedule = any_schedule_from_document(result["schedule"], f"the schedule for {size} bytes")
        found = known.setdefault(schedule.digest, Found(schedule, result["method"], size))
        points.append(Point(size, found, result["time_cycles"], result["time_bounds"]))
    return points


def _written(folder: Path, found: list[Range]) -> dict[Found, str]:
    """Write the schedule of each range, named after the size that it was made for."""
    files: dict[Found, str] = {}
    for one in found:
        if one.found not in files:
            files[one.found] = f"{one.found.message_bytes}.json"
            save(one.found.schedule, folder / files[one.found], force=True)
    return files
