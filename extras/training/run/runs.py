"""Runs of training: what is found for settings."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeVar

from certree.api.reports.text import seconds_words
from certree.api.settings import Tell, silent
from certree.extras.training.make.timeline import training_picture
from certree.extras.training.model.queue import Shared
from certree.extras.training.model.training import Training
from certree.extras.training.model.training import train as run_training
from certree.extras.training.model.workload import Act, Communication
from certree.extras.training.run.settings import AUTO, LANES, Settings, Timing
from certree.extras.training.run.table_times import NoTablesError
from certree.extras.training.run.timers import Known, Timers
from certree.models.common.extras import provided
from certree.models.common.shown import Shown
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

Found = TypeVar("Found")


@dataclass(frozen=True)
class Alternative:
    """What-if: the run with one `change`; a `reason` where it cannot be. `estimate`, `program`: as of `TrainingRun`, and
    `no_tables` and `no_routers`, where that run itself has none."""

    change: str
    seconds: Fraction | None
    reason: str | None = None
    estimate: bool = False
    program: str | None = None
    no_tables: str | None = None
    no_routers: str | None = None


@dataclass(frozen=True)
class Slowest:
    """The collectives of an iteration that take the most time, of one kind, size and group: one of them (`asked`), their number,
    and the schedule that their time is of with its message size and machine."""

    asked: Communication
    number: int
    schedule: AnySchedule
    used: MadeFor


@dataclass(frozen=True, repr=False)
class TrainingRun(Shown):
    """A training run: what was asked for, what the accelerators did, and the what-if runs, fastest first. `timers`: what timed its
    collectives. `estimate`: with joint links, collectives of several groups were under way that did not start together, so that no
    joint schedule has their times. `no_tables`: on endpoints, why messages ran where tables could have; `no_routers`: why tables
    ran on lanes, without routers."""

    picture: ClassVar[str | None] = "timeline of a training run"

    settings: Settings
    training: Training
    alternatives: tuple[Alternative, ...] = ()
    estimate: bool = False
    no_tables: str | None = None
    no_routers: str | None = None
    timers: Timers | None = field(default=None, compare=False)

    @cached_property
    def slowest(self) -> Slowest | None:
        """The collectives that take the most time, where times come from schedules that have the network to themselves."""
        settings, timers = self.settings, self.timers
        alone = settings.timing in (Timing.CLOSED_FORM, Timing.SLOTTED, Timing.PACED) and not settings.joint
        counts = Counter(settings.workload.communications())
        if timers is None or settings.speeds.free or not alone or not counts:
            return None
        asked = max(counts, key=lambda one: (counts[one] * timers.seconds(one), one))
        return Slowest(asked, counts[asked], timers.fastest(asked), MadeFor(timers.message_bytes(asked), timers.machine))

    @property
    def program(self) -> str | None:
        """The kind of program that ran on endpoints, "tables" or "messages"; None without them."""
        if self.settings.timing is not Timing.ENDPOINTS:
            return None
        return "messages" if self.settings.program == "messages" else "tables"

    def plotted(self, suffix: str) -> bytes:
        """The timeline as .svg or .png, for `draw`."""
        svg = timeline(self)
        if suffix == ".svg":
            return svg.encode()
        from certree.extras.reports.make.png import as_png

        return as_png(svg)

    def page(self, title: str | None = None) -> str:
        """The HTML page, for `report`."""
        page: str = provided("page of a training run")(self, title)
        return page

    def title(self) -> str:
        """The workload and the network."""
        return f"{self.settings.workload.name} on {self.settings.topology.name}"

    def facts(self) -> dict[str, object]:
        """Times in milliseconds of an iteration."""
        return {"ms": f"{1000 * float(self.iteration_seconds):.4g}", "exposed": f"{100 * float(self.exposed_share):.1f} %"}

    @property
    def seconds(self) -> Fraction:
        """The seconds of all iterations, with the collectives of the last one."""
        return self.training.seconds

    @property
    def iteration_seconds(self) -> Fraction:
        """The mean."""
        return self.seconds / self.settings.iterations

    @property
    def compute_seconds(self) -> Fraction:
        """The seconds of computing in an iteration."""
        return self.training.total(Act.COMPUTE) / self.settings.iterations

    @property
    def exposed_seconds(self) -> Fraction:
        """The seconds in an iteration in which accelerators wait for collectives."""
        return self.training.total(Act.WAIT) / self.settings.iterations

    @property
    def exposed_share(self) -> Fraction:
        """The share of waiting for collectives in the time of an iteration."""
        return self.exposed_seconds / self.iteration_seconds if self.iteration_seconds else Fraction(0)


def timeline(run: TrainingRun) -> str:
    """SVG of what the accelerator and the networks do over time."""
    return training_picture(run.training, f"{run.title()}: {seconds_words(run.iteration_seconds)} an iteration")


def on_one_program(settings: Settings, work: Callable[[str], Found]) -> tuple[Found, str | None, str | None]:
    """(what `work` returns for one program of endpoints, `no_tables`, `no_routers`), so that runs which are compared have the same
    one. Where the settings say "auto" these are tables; where they take long for all runs together, tables on LANES; where one run
    has none, or these take long, messages."""
    if settings.program != AUTO:
        return work(settings.program), None, None
    try:
        return work(AUTO), None, None
    except NoTablesError as error:
        no_routers = str(error)
    try:
        return work(LANES), None, no_routers
    except NoTablesError as error:
        return work("messages"), str(error), None


def run_settings(settings: Settings, known: Known | None = None, progress: Tell = silent) -> TrainingRun:
    """The run that settings describe; `known`: what other runs have found, and what this one finds. NoTablesError where the
    settings leave to the run whether tables run on endpoints, and they do not (`on_one_program`)."""
    workload = settings.workload if settings.overlap else settings.workload.all_at_the_end()
    workload = workload.scaled(1 / settings.speeds.compute / _training_share(settings))
    used = replace(settings, workload=workload)
    timers = Timers(used, known, progress)
    servers = timers.servers()
    timers.require_tables()
    training = run_training(workload, servers, settings.iterations)
    estimate = any(isinstance(server, Shared) and server.estimated for server in servers.values())
    return TrainingRun(used, training, estimate=estimate, timers=timers)


def _training_share(settings: Settings) -> Fraction:
    """The share of the accelerator that training has: all of it, unless endpoints take some of it for collectives."""
    if settings.timing is not Timing.ENDPOINTS or settings.endpoint is None or settings.system is None:
        return Fraction(1)
    return settings.endpoint.system(settings.system).training_share
