"""Times of one plan on a tree of switches, its levels in every order, compared with those that a paper states."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from certree.extras.costs.model.flows.time import NO_TIME, FlowTime, FlowTimer, Reading, all_readings, parse_reading
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import network_arguments, read_floats
from certree.extras.papers.experiments.costs.ordered_levels import LEVELS, Ordered, Step
from certree.extras.papers.target import Target, compared, load_target
from certree.extras.workers.task import Task
from certree.models.common.fields import Fields
from certree.models.network.spec import parse_topology

UNIT = Fraction(10**6)  # floats of the vector that is timed; times but start-up scale with size
WHOLE = "each level on the whole vector"


@dataclass(frozen=True)
class PlanLine:
    """One row of the results: the steps of a plan on a network, for each of `floats`."""

    name: str
    network: str
    plans: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True)
class _PlanOrders(Experiment):
    lines: tuple[PlanLine, ...]
    floats: tuple[str, ...]
    model: str
    readings: tuple[Reading, ...]
    stated: Target

    def tasks(self) -> list[Task]:
        return [
            Task(
                f"{line.name}, {len(orders())} orders",
                time_orders,
                network_arguments(line.network, self.model)
                | {
                    "plans": [[list(step) for step in plan] for plan in line.plans],
                    "floats": list(self.floats),
                    "readings": [vars(reading) for reading in self.readings],
                },
            )
            for line in self.lines
        ]

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells: list[Cell] = []
        single = len(self.readings) == 1
        largest: dict[str, dict[str, Fraction]] = {}
        for order in orders():
            for number, reading in enumerate(self.readings):
                name = order if single else f"{order}; {reading}"
                for line, result in zip(self.lines, results, strict=True):
                    row = list(self._row(line, result["times"][order][number]))
                    if single:
                        cells += [replace(cell, row=f"{name}: {line.name}") for cell in row]
                    largest.setdefault(line.name, {})[name] = max(abs(Fraction(cell.more["difference"])) for cell in row)
        names = list(next(iter(largest.values())))
        largest["all lines"] = {name: max(of_line[name] for of_line in largest.values()) for name in names}
        cells += [Cell(name, f"largest, {line}", off[name]) for name in names for line, off in largest.items()]
        nearest = {line: min(names, key=lambda name: off[name]) for line, off in largest.items()}
        return cells + [Cell("nearest", f"largest, {line}", name) for line, name in nearest.items()]

    def _row(self, line: PlanLine, times: Sequence[str]) -> Iterator[Cell]:
        """The difference from what the paper states, at every size."""
        ours = [Cell(line.name, floats, Fraction(time)) for floats, time in zip(self.floats, times, strict=True)]
        for entry in compared(self.stated, ours):
            more = {"seconds": str(entry.cell.ours), "difference": str(entry.difference)}
            yield Cell("", entry.cell.column, entry.difference, more=more)

    def smoke(self) -> "_PlanOrders":
        lines = tuple(replace(line, plans=line.plans[:1]) for line in self.lines[:1])
        return replace(self, lines=lines, floats=self.floats[:1], readings=self.readings[:1])


def orders() -> dict[str, tuple[str, ...]]:
    """Name -> levels in the order of the reduce-scatter; WHOLE has each of them first."""
    return {", ".join(order): order for order in permutations(LEVELS)} | {WHOLE: LEVELS}


@EXPERIMENTS.register("plan-orders")
def plan_orders(fields: Fields) -> Experiment:
    """Differences from the stated times of target `of` where the levels of a plan take place in every order.

    A line has a `name` (a row of `of`), a `network` and `plans`, one list of steps for each of `floats`: a level (middle, root,
    crossing), perhaps with the size of the groups of its co-located PS ("middle 8"); without it all that is left of the level comes
    together. `model` has the parameters; `readings` is `all`, or `reading` a single one, for which the difference of every cell is
    given, too. Columns `largest`: of a line, over all sizes, without its sign; the row `nearest` names the first with the least.
    """
    model, floats, target = fields.text("model"), read_floats(fields), load_target(fields.text("of"))
    load_genmodel(model)
    if "readings" in fields:
        fields.choice("readings", ("all",))
        readings = tuple(all_readings())
    else:
        readings = (parse_reading(fields.mapping("reading")),)
    lines = fields.each("lines", lambda entry: _line(entry, target, floats), least=1)
    return _PlanOrders(lines, floats, model, readings, target)


def _line(fields: Fields, target: Target, floats: Sequence[str]) -> PlanLine:
    name, network = fields.text("name"), fields.text("network")
    parse_topology(network)
    known = compared(target, [Cell(name, column, Fraction(1)) for column in floats])
    if any(entry.difference is None for entry in known):
        fields.refuse(f"name is {name!r}; expected a row whose times {target.name} states for all of floats")
    plans = fields.each("plans", lambda entry: tuple(_step(fields, text) for text in entry.texts("steps")), least=1)
    if len(plans) != len(floats):
        fields.refuse(f"plans has {len(plans)} entries for {len(floats)} floats")
    return PlanLine(name, network, plans)


def _step(fields: Fields, text: str) -> Step:
    level, _, size = text.partition(" ")
    if level not in LEVELS or (size and not (size.isdecimal() and int(size) > 1)):
        fields.refuse(
            f"steps has {text!r}; expected one of {', '.join(LEVELS)}, perhaps with a group size from 2, as in 'middle 8'"
        )
    return level, int(size or 0)


def time_orders(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`times`: for every order and reading the seconds at each of `floats`."""
    topology, model = parse_topology(arguments["network"]), load_genmodel(arguments["model"])
    readings = [parse_reading(reading) for reading in arguments["readings"]]
    tree = Ordered(topology)
    times: dict[str, list[list[str]]] = {order: [[] for _ in readings] for order in orders()}
    timers = [FlowTimer(topology, model, UNIT, reading) for reading in readings]
    known: dict[tuple[Step, ...], list[FlowTime]] = {}

    def timed(steps: tuple[Step, ...]) -> list[FlowTime]:
        if steps not in known:
            flows = tree.all_reduce(steps)
            known[steps] = [sum((timer.step(flow) for flow in flows), NO_TIME) for timer in timers]
        return known[steps]

    for floats, plan in zip(arguments["floats"], arguments["plans"], strict=True):
        steps = [(level, size) for level, size in plan]
        for order, levels in orders().items():
            sequence = [tuple(step for step in steps if step[0] == level) for level in levels]
            parts = sequence if order == WHOLE else [tuple(step for part in sequence for step in part)]
            of_parts = [timed(part) for part in parts]
            for number, found in enumerate(times[order]):
                time = sum((part[number] for part in of_parts), NO_TIME)
                found.append(str(time.stretched(Fraction(floats) / UNIT).seconds))
    return {"times": times}
