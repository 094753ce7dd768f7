"""The cells of a sweep: combinations that can work, each with the key of its result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from certree.api.runs.simulation import NO_ENDPOINT
from certree.api.settings import machine_for
from certree.extras.joint.make.joining import launching_of
from certree.extras.joint.model.collective_list import read_collectives
from certree.extras.sweeps.run.endpoint_axes import EndpointChoice
from certree.extras.sweeps.run.faults import SEEDS, less_links
from certree.extras.sweeps.run.measure import measure, measure_workload
from certree.extras.sweeps.run.specification import Failures, Specification
from certree.extras.workers.networks import sent
from certree.extras.workers.task import Task, key_of
from certree.hw.engines.runs import MODES
from certree.models.common.errors import InputError, located
from certree.models.common.files import canonical_json, sha256
from certree.models.machine.machine import Machine, machine_from_document
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule_file import collective_document
from certree.synth.method import METHODS, Request

#: the method of cells of collectives that run at once, and the beginning of their collective, before the name of the file
JOINT, WORKLOAD = "joint", "workload:"
NO_CHOICE = EndpointChoice(NO_ENDPOINT, None, None)


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination; `drawn` is the network after failures. Its result is kept under `key`."""

    network: str
    failures: str
    draw: int
    drawn: str
    collective: str
    size: int
    method: str
    machine: str
    seed: int
    run: str
    key: str
    endpoint: str = NO_ENDPOINT
    sram: int | None = None
    state_machines: int | None = None

    @property
    def label(self) -> str:
        """The label of a cell: all of its parameters in one line."""
        return (
            f"{self.drawn} {self.collective} {self.size} {self.method} machine={self.machine} seed={self.seed} run={self.run}"
            + (f" draw={self.draw}" if self.failures != "0" else "")
            + (f" endpoint={self.choice.system}" if self.endpoint != NO_ENDPOINT else "")
        )

    @property
    def choice(self) -> EndpointChoice:
        """The endpoints of the cell."""
        return EndpointChoice(self.endpoint, self.sram, self.state_machines)


@dataclass(frozen=True)
class _Drawn:
    """A network after failures."""

    failures: Failures
    draw: int
    spec: str
    topology: Topology


@dataclass(frozen=True)
class _Placed:
    """A collective on a drawn network: the network that it may use, and the machine there, with the digests of both."""

    topology: Topology
    collective: Collective
    machine: Machine

    @cached_property
    def document(self) -> dict[str, Any]:
        """The machine, as a worker gets it."""
        return self.machine.document()

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests in the key of a cell."""
        told = {"collective": collective_document(self.collective), "machine": self.document}
        return {"links": self.topology.digest} | {name: sha256(canonical_json(value)) for name, value in told.items()}


class SweepPlan:
    """The cells of a specification, and the tasks that compute them. InputError, with its place, for a combination that cannot
    work: a root that is not an endpoint, a machine that contradicts a network, failures that disconnect it, an option that a
    method does not have, a method that makes none of the collectives."""

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self._machines: dict[tuple[str, str], dict[str, Any]] = {}
        self._digests: dict[tuple[str, str], str] = {}  # of a machine on a network
        self._topologies: dict[str, Topology] = {}
        self._placed: dict[tuple[str, str, str], _Placed] = {}  # of a network, a machine and the text of a collective
        self.cells = list(self._cells())
        if not self.cells:
            raise InputError("every combination is left out by skip")

    def _cells(self) -> Iterator[Cell]:
        asked = self.specification
        for network, topology in asked.networks.items():
            for drawn in self._drawn(network, topology):
                self._topologies[drawn.spec] = drawn.topology
                for text, machine in asked.machines.items():
                    self._place(drawn, text, machine)
                self._check(network, drawn)
                yield from self._of(network, drawn)
                yield from self._at_once(network, drawn)

    def _drawn(self, network: str, topology: Topology) -> Iterator[_Drawn]:
        """The network with each of the failures, as often as they are drawn."""
        asked = self.specification
        for failures in asked.failures:
            is_whole = failures == Failures()
            for draw in range(1 if is_whole else asked.draws):
                with located("failures"):
                    seed = SEEDS * (failures.links + failures.nodes) + draw
                    spec = network if is_whole else less_links(network, failures.links, seed, failures.nodes)
                yield _Drawn(failures, draw, spec, topology if is_whole else parse_topology(spec))

    def _place(self, drawn: _Drawn, text: str, machine: Machine | None) -> None:
        used = machine_for(drawn.topology, machine)
        self._machines[drawn.spec, text] = used.document()
        self._digests[drawn.spec, text] = sha256(canonical_json(used.document()))
        for name, wanted in self.specification.collectives.items():
            with located("collectives"):
                topology = wanted.through(drawn.topology)
                there = used if topology is drawn.topology else machine_for(topology, machine)
                self._placed[drawn.spec, text, name] = _Placed(topology, wanted.on(topology, there), there)

    def _check(self, network: str, drawn: _Drawn) -> None:
        """Refuse what cannot work on one network, drawn or whole."""
        asked = self.specification
        placed = [self._placed[drawn.spec, next(iter(asked.machines)), name] for name in asked.collectives]
        for entry in asked.methods.values() if placed else ():
            method = METHODS[entry.method]
            made = [one for one in placed if one.collective.kind in method.collectives]
            with located("methods"):
                if not made:
                    kinds = ", ".join(method.collectives)
                    raise InputError(f"{entry.text} makes none of the collectives {', '.join(asked.collectives)}; it makes {kinds}")
                first = made[0]
                size = _own_bytes(first.collective, first.machine.flit_bytes) or asked.sizes[0]
                method.read(Request(first.topology, first.collective, size, first.machine, options=entry.options))

    def _of(self, network: str, drawn: _Drawn) -> Iterator[Cell]:
        asked, failures = self.specification, str(drawn.failures)
        common = {"effort": asked.effort, "bounds": asked.bounds, "routers": asked.routers}
        for collective, wanted in asked.collectives.items():
            sizes = asked.sizes if wanted.demand is None else (None,)
            axes = (sizes, asked.methods, asked.machines, asked.seeds, asked.runs, asked.endpoints.choices)
            for given, method, machine, seed, run, choice in product(*axes):
                placed = self._placed[drawn.spec, machine, collective]
                size = given or _own_bytes(placed.collective, placed.machine.flit_bytes)
                names = {"network": network, "collective": collective, "size": str(size), "method": method, "machine": machine}
                if asked.skip and asked.skips(names | {"seed": str(seed), "failures": failures, "run": run} | choice.names):
                    continue
                inputs = {
                    "network": drawn.spec, "size": size, "method": method, "seed": seed, "run": run, **placed.digests, **common,
                }  # fmt: skip
                key = key_of(measure, inputs | self._endpoint(choice))
                sizes_of = (choice.endpoint, choice.sram, choice.state_machines)
                yield Cell(network, failures, drawn.draw, drawn.spec, collective, size, method, machine, seed, run, key, *sizes_of)

    def _at_once(self, network: str, drawn: _Drawn) -> Iterator[Cell]:
        """A cell for each list of collectives that run at once, by a joint schedule."""
        asked, failures = self.specification, str(drawn.failures)
        for (name, text), machine, seed in product(asked.workloads.items(), asked.machines, asked.seeds):
            used = machine_from_document(self._machines[drawn.spec, machine], "machine")
            with located("workloads"):
                listed = read_collectives(text.encode(), name, drawn.topology, used)
                if listed.launches:
                    launching_of(drawn.topology, listed, name)
                entries = listed.entries
            size, collective = sum(entry.size for entry in entries), f"{WORKLOAD}{name}"
            names = {"network": network, "collective": collective, "size": str(size), "method": JOINT, "machine": machine}
            if asked.skip and asked.skips(names | {"seed": str(seed), "failures": failures, "run": MODES[0]} | NO_CHOICE.names):
                continue
            inputs = {
                "network": drawn.spec, "links": drawn.topology.digest, "workload": text, "seed": seed, "effort": asked.effort,
                "machine": self._digests[drawn.spec, machine],
            }  # fmt: skip
            key = key_of(measure_workload, inputs)
            yield Cell(network, failures, drawn.draw, drawn.spec, collective, size, JOINT, machine, seed, MODES[0], key)

    def _endpoint(self, choice: EndpointChoice) -> dict[str, Any]:
        """The document of its endpoints that the worker of a cell receives; nothing where it has none."""
        if choice.endpoint == NO_ENDPOINT:
            return {}
        return {"endpoint": choice.system, "endpoint_params": self.specification.endpoints.document}

    @cached_property
    def by_key(self) -> Mapping[str, Cell]:
        """Cells by their key; combinations that come to the same are one."""
        return {cell.key: cell for cell in self.cells}

    def endpoints(self, cell: Cell) -> int:
        """The number of endpoints of the network of a cell."""
        return len(self._topologies[cell.drawn].endpoints)

    def task(self, cell: Cell) -> Task:
        """The task that computes a cell. A network that is a file goes along, since workers may not see it."""
        asked, topology = self.specification, self._topologies[cell.drawn]
        limit = None if asked.time_limit is None else float(asked.time_limit)
        if cell.collective.startswith(WORKLOAD):
            workload = {
                **sent(topology, Collective(CollectiveKind.ALL_REDUCE), cell.drawn),
                "workload": asked.workloads[cell.collective.removeprefix(WORKLOAD)],
                "machine": self._machines[cell.drawn, cell.machine],
                "seed": cell.seed,
                "effort": asked.effort,
            }
            return Task(cell.label, measure_workload, workload, cell.key, limit)
        placed = self._placed[cell.drawn, cell.machine, cell.collective]
        arguments = {
            **sent(placed.topology, placed.collective, cell.drawn),
            "size": cell.size,
            "method": cell.method,
            "machine": placed.document,
            "seed": cell.seed,
            "run": cell.run,
            "effort": asked.effort,
            "bounds": asked.bounds,
            "routers": asked.routers,
            **self._endpoint(cell.choice),
        }
        return Task(cell.label, measure, arguments, cell.key, limit)


def _own_bytes(collective: Collective, granule_bytes: int) -> int:
    """The size that a demand states; 0 where there is none."""
    return 0 if collective.demand is None else collective.demand.granules * granule_bytes
