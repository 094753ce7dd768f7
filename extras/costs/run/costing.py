"""Times of schedules by a cost model of the literature: one exact cell for each, as in `certree cost --json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.artefacts import Asked, Checked, holds_schedule
from certree.api.checks.checking import verify
from certree.api.checks.verdicts import checked_source, schedule_outcome
from certree.api.inputs import schedule_of, size_or_default
from certree.api.parsing import Entry, parse_entry
from certree.api.reports.schedule_report import members_of
from certree.api.reports.text import size_words
from certree.api.settings import machine_for, message_size
from certree.extras.costs.model.cost_model import CostModel, load_parameters, model_name
from certree.extras.costs.model.counting import Counts, count
from certree.extras.costs.model.formulas.genmodel import GenModel
from certree.extras.costs.model.optimality import Optimality, optimality
from certree.models.common.errors import InputError, UndecidedError, UnsupportedError
from certree.models.common.files import as_opened
from certree.models.common.shown import Shown
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict

#: what networks are priced with
METHODS = ("reduce-broadcast", "cps", "hierarchical-cps", "ring", "halving-doubling", "gentree")


@dataclass(frozen=True, repr=False)
class Costs(Shown):
    """Costs of schedules: one JSON object for each, exact numbers as texts; `not_applicable` where a method makes none, `refuted`
    where a schedule is invalid. `notes`: why methods make none, and where the size is not the one that a schedule was made for."""

    model: CostModel
    message_bytes: int
    cells: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    def title(self) -> str:
        """The model and its parameters."""
        return f"{model_name(self.model)}, parameters {self.model.name}, {size_words(self.message_bytes)}"

    def facts(self) -> dict[str, object]:
        """Seconds by subject and method."""
        priced = [cell for cell in self.cells if "seconds" in cell]
        return {f"{cell['subject']} {cell['method'] or ''}".strip(): f"{float(Fraction(cell['seconds'])):.6g} s" for cell in priced}


def cost(
    *subjects: str | Path | AnySchedule | Tables | Topology,
    collective: str | Collective = "all-reduce",
    root: int | None = None,
    size: int | str | None = None,
    parameters: str | Path = "gentree",
    methods: Sequence[str] = METHODS,
) -> Costs:
    """Times of schedules, or of methods on networks, by (alpha, beta, gamma), GenModel, LogGP, NetReduce's, ACE's or NCCL's model.

    Times are exact, in seconds.

    Parameters
    ----------
    subjects
        Schedules, or networks, whose cells come cheapest first.
    collective, root, methods
        For networks; each method `name` or `name:option=value:...`.
    size : int or str, optional
        By default what the schedules were made for, 64 MiB where that is not known.
    parameters : str or path
        A preset or a TOML file, which names its model.

    Returns
    -------
    Costs

    Raises
    ------
    InputError
        For anything malformed, and for schedules that were made for several sizes where none is given.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.cost("switch:8", size="1MiB", methods=["ring", "cps"])
    <Costs genmodel, parameters gentree, 1 MiB: switch:8 cps 0.0426088 s, switch:8 ring 0.279562 s>
    """
    model, entries = load_parameters(str(parameters)), [parse_entry(name) for name in methods]
    taken = [_taken(subject) for subject in subjects]
    notes: list[str] = []
    costing = Costing(model, str(parameters), _one_size([one for one in taken if isinstance(one, _Named)], size, notes))
    cells: list[dict[str, Any]] = []
    for one in taken:
        if isinstance(one, _Named):
            cells.append(costing.of_schedule(one.name, one.checked))
        else:
            asked = parsing.collective(collective, root)
            asked.require_fits(one)
            asked.require_everyone("cost models")
            notes += _stated_speeds(one, model)
            cells += costing.of_methods(one, asked, entries)
    notes += [f"{cell['method']}: {cell['not_applicable']}" for cell in cells if "not_applicable" in cell]
    return Costs(costing.model, costing.message_bytes, tuple(cells), tuple(notes))


def _stated_speeds(topology: Topology, model: CostModel) -> list[str]:
    """A note on a network that states the speed of its links: cost models have their own speeds."""
    if topology.bandwidth is None:
        return []
    speed = f"{topology.bandwidth / 10**9:.6g} GB/s"
    return [f"{topology.name} states {speed} for a link of capacity 1; costs are those of {model.name} whatever it states"]


@dataclass(frozen=True)
class _Named:
    """A schedule or tables, and their name."""

    name: str
    checked: Checked


def _taken(subject: str | Path | AnySchedule | Tables | Topology) -> Topology | _Named:
    """The network of a subject, or its schedule with the verdict on it."""
    if isinstance(subject, str | Path):
        opened = as_opened(subject)
        named = isinstance(subject, str) and not holds_schedule(opened)
        return parse_topology(opened) if named else _Named(str(subject), checked_source(opened, Asked()))
    if isinstance(subject, Topology):
        return subject
    schedule = schedule_of(subject)
    return _Named(schedule.title(), schedule_outcome(schedule, verify(subject), Asked()))


def _one_size(schedules: Sequence[_Named], size: int | str | None, notes: list[str]) -> int:
    """The size used for all: the one given, else the one that all schedules were made for, else the default."""
    sizes = {}
    for one in schedules:
        told: list[str] = []
        sizes[one.name] = message_size(one.checked.schedule, size, told.append)
        notes += [f"{one.name}: {text}" for text in told]
    if len(set(sizes.values())) > 1:
        words = ", ".join(f"{name} for {size_words(used)}" for name, used in sizes.items())
        raise InputError(f"these were made for several sizes, {words}; give one size for all")
    return next(iter(sizes.values()), size_or_default(size))


@dataclass(frozen=True)
class Costing:
    """A cost model with the file or preset it came from, and a message size."""

    model: CostModel
    source: str
    message_bytes: int

    def of_schedule(self, subject: str, checked: Checked) -> dict[str, Any]:
        """The cell of a schedule named `subject`; with `refuted` where it is invalid."""
        return {"subject": subject, **self._cell(written_out(checked.schedule), checked.verdict)}

    def of_methods(self, topology: Topology, collective: Collective, entries: list[Entry]) -> list[dict[str, Any]]:
        """A cell for each method on a network, the cheapest first; `not_applicable` where it makes no schedule."""
        cells = [self._made(topology, collective, entry) for entry in entries]
        return sorted(cells, key=lambda cell: ("seconds" not in cell, Fraction(cell.get("seconds", 0))))

    def _made(self, topology: Topology, collective: Collective, entry: Entry) -> dict[str, Any]:
        options = dict(entry.options)
        if entry.method == "gentree" and isinstance(self.model, GenModel):
            options.setdefault("model", self.source)  # it plans for the cluster that it is priced on
        cell: dict[str, Any] = {"subject": topology.name, "method": entry.text}
        request = Request(topology, collective, self.message_bytes, machine_for(topology, None), options=options)
        try:
            made = written_out(load_methods()[entry.method](request))
        except (UnsupportedError, UndecidedError) as error:
            return cell | {"not_applicable": str(error)}
        return cell | self._cell(made, verify_schedule(made)) | {"method": entry.text}

    def _cell(self, schedule: Schedule, verdict: Verdict) -> dict[str, Any]:
        method = schedule.provenance.get("method")
        cell: dict[str, Any] = {
            "method": method if isinstance(method, str) else None,
            "topology": schedule.topology.name,
            "collective": schedule.collective.name,
            "root": schedule.collective.root,
            **members_of(schedule.collective),
            "valid": verdict.valid,
        }
        if not verdict.valid:
            return cell | {"refuted": f"{verdict.violations[0].rule}: {verdict.violations[0].message}"}
        counts = count(schedule)
        cost = self.model.cost(counts, self.message_bytes)
        cell |= {
            "seconds": str(cost.seconds),
            "terms": [{"symbol": term.symbol, "what": term.what, "seconds": str(term.seconds)} for term in cost.terms],
            **_coefficients(counts),
        }
        if "plans" in schedule.provenance:
            cell["plans"] = schedule.provenance["plans"]
        return cell | self._optimality(schedule)

    def _optimality(self, schedule: Schedule) -> dict[str, Any]:
        """GenTree's theorems, where the model has an incast threshold and the theorems apply to the schedule."""
        if not isinstance(self.model, GenModel):
            return {}
        try:
            return {"optimality": _optimality_document(optimality(schedule, self.model.middle.incast_threshold))}
        except UnsupportedError as error:
            return {"optimality": None, "no_optimality": str(error)}


def _coefficients(counts: Counts) -> dict[str, Any]:
    """The coefficients, in parts of the message."""
    profile, (sent, received) = counts.profile(), counts.traffic()
    return {
        "steps": profile.steps,
        "links": str(profile.received),
        "additions": str(profile.additions),
        "accesses": str(profile.accesses),
        "incast": [[w, str(share)] for w, share in profile.incast],
        "traffic": {"sent": str(sent), "received": str(received)},
    }


def _optimality_document(found: Optimality) -> dict[str, Any]:
    memory, incast = found.memory, found.incast
    return {
        "memory": {
            "accesses": str(memory.accesses),
            "bound": str(memory.bound),
            "optimal": memory.optimal,
            "chunk": memory.chunk,
            "operations": [[operation.step, operation.server, operation.terms] for operation in memory.operations],
            "busiest": [memory.busiest[0], str(memory.busiest[1])],
        },
        "incast": {
            "communicators": incast.communicators,
            "threshold": incast.threshold,
            "optimal": incast.optimal,
            "step": incast.step,
            "link": [incast.src, incast.dst],
        },
        "both": {
            "possible": found.both_possible,
            "endpoints": found.endpoints,
            "links": found.links,
            "least_operations": found.least_operations,
            "least_accesses": str(found.least_accesses),
        },
    }
