"""All cells of a comparison of designs, each with the task that computes it."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from certree.api.settings import machine_for
from certree.extras.designs.model.cells import FAILURES, GRID, ONE, SENSITIVITY, TRAINING, DesignCell
from certree.extras.designs.model.specification import GRID_TIMES, Designs
from certree.extras.designs.run.scaling import scaled
from certree.extras.designs.run.training_cell import trained, workload_digest
from certree.extras.designs.run.viewing import measured_and_viewed
from certree.extras.sweeps.run.plan import Cell, SweepPlan
from certree.extras.sweeps.run.specification import CHEAP, DEFAULT_MACHINE, read_specification
from certree.extras.workers.networks import sent
from certree.extras.workers.task import Task, key_of
from certree.models.common.errors import located
from certree.models.machine.machine import Machine, load_machine
from certree.models.schedule.collective import Collective, CollectiveKind


class DesignsPlan:
    """The cells of a specification: the grid, failures, sensitivity, training, in this order. InputError, before anything runs, for
    a combination that cannot work."""

    def __init__(self, asked: Designs) -> None:
        self.asked = asked
        given = None if asked.machine == DEFAULT_MACHINE else load_machine(asked.machine)
        with located("machine"):
            self.machines: dict[str, Machine] = {name: machine_for(one, given) for name, one in asked.networks.items()}
        self.viewed: dict[str, str] = {}  # by key the network
        self._tasks: dict[str, tuple[SweepPlan, Cell] | Task] = {}
        self.cells: list[DesignCell] = [*self._grid(), *self._failures(), *self._sensitivity(), *self._training()]

    def _swept(self, part: str, **changed: Any) -> SweepPlan:
        """The plan of a sweep with the fields that all cells share."""
        asked = self.asked
        fields = {
            "title": part, "networks": list(asked.networks), "collectives": list(asked.collectives), "sizes": list(asked.sizes),
            "methods": [asked.method], "machines": [asked.machine], "seeds": [asked.seed], "effort": asked.effort,
            "bounds": asked.bounds,
        }  # fmt: skip
        with located(part):
            return SweepPlan(replace(read_specification({**fields, **changed}), time_limit=asked.time_limit))

    def _cells(
        self, part: str, plan: SweepPlan, rate: Fraction = ONE, latency: Fraction = ONE, network: str = ""
    ) -> list[DesignCell]:
        found = []
        for cell in plan.cells:
            self._tasks.setdefault(cell.key, (plan, cell))
            words = "" if rate == latency == 1 else f" rate {rate} latency {latency}"
            found.append(DesignCell(part, network or cell.network, cell.key, cell.label + words, rate, latency, cell))
        return found

    def _grid(self) -> list[DesignCell]:
        """The cells of the grid. `viewed` has those that the page shows: the largest messages of the first collective."""
        found = self._cells(GRID, self._swept(GRID))
        for name in self.asked.networks:
            mine = [(cell.swept, cell.key) for cell in found if cell.network == name and cell.swept is not None]
            first = [(swept.size, key) for swept, key in mine if swept.collective == mine[0][0].collective]
            self.viewed[max(first)[1]] = name
        return found

    def _failures(self) -> list[DesignCell]:
        asked = self.asked.failures
        if not asked.links:
            return []
        changed = {
            "sizes": [asked.size], "methods": [asked.method], "failures": [0, *asked.links], "draws": asked.draws,
            "bounds": CHEAP, "runs": [asked.run],
        }  # fmt: skip
        return self._cells(FAILURES, self._swept(FAILURES, **changed))

    def _sensitivity(self) -> Iterator[DesignCell]:
        """The network as it is, then with each factor by itself."""
        asked = self.asked.sensitivity
        if not (asked.rates or asked.latencies):
            return
        factors = [(ONE, ONE), *((rate, ONE) for rate in asked.rates), *((ONE, latency) for latency in asked.latencies)]
        for name, topology in self.asked.networks.items():
            for rate, latency in dict.fromkeys(factors):
                changed, machine = scaled(topology, self.machines[name], rate, latency)
                whole = self._swept(SENSITIVITY, networks=[name], sizes=[asked.size], methods=[asked.method], runs=[asked.run])
                if rate == latency == 1:
                    yield from self._cells(SENSITIVITY, whole)
                    continue
                specification = replace(
                    whole.specification, networks={changed.name: changed}, machines={f"rate {rate} latency {latency}": machine}
                )
                yield from self._cells(SENSITIVITY, SweepPlan(specification), rate, latency, name)

    def _training(self) -> Iterator[DesignCell]:
        asked = self.asked.training
        for workload in asked.workloads:
            with located("training"):
                digest = workload_digest(workload)
            for name, topology in self.asked.networks.items():
                arguments = {
                    **sent(topology, Collective(CollectiveKind.ALL_REDUCE), name),
                    "workload": workload,
                    "method": asked.method,
                    "machine": self.machines[name].document(),
                }
                key = key_of(trained, {**arguments, "file": digest})
                label = f"{name} training {workload} {asked.method}"
                if asked.method == GRID_TIMES:  # from results that are there: no task
                    yield DesignCell(TRAINING, name, "", label, workload=workload, method=asked.method)
                    continue
                limit = None if self.asked.time_limit is None else float(self.asked.time_limit)
                self._tasks.setdefault(key, Task(label, trained, arguments, key, limit))
                yield DesignCell(TRAINING, name, key, label, workload=workload, method=asked.method)

    @cached_property
    def keys(self) -> list[str]:
        """Keys of the cells, each once: cells that come to the same are one."""
        return list(dict.fromkeys(cell.key for cell in self.cells if cell.key))

    def task(self, key: str) -> Task:
        """The task that computes the cells of a key."""
        found = self._tasks[key]
        task = found if isinstance(found, Task) else found[0].task(found[1])
        return replace(task, function=measured_and_viewed) if key in self.viewed else task
