"""All-reduce time on a damaged network by the number of dead links, over random draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.collectives.against_published import rival_of
from certree.extras.papers.experiments.collectives.all_reduce_runs import Line, all_reduce_task
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.sweeps.run.faults import SEEDS, less_links
from certree.extras.workers.task import Task
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.fields import Fields
from certree.models.machine.machine import Machine, load_machine, machine_from_document
from certree.models.network.spec import parse_topology
from certree.models.schedule.timing import bandwidth_bound_cycles
from certree.synth.packing.spanning_trees import network_of

BOUND = "bandwidth bound"


@dataclass(frozen=True)
class _DeadLinks(Experiment):
    network: str
    dead: tuple[int, ...]
    draws: int
    size: int
    machine: Machine
    lines: tuple[Line, ...]  # certree's, then the others

    def _drawn(self) -> list[tuple[int, int]]:
        """(dead links, seed) of every draw; a whole network is drawn once."""
        return [(dead, SEEDS * dead + draw) for dead in self.dead for draw in range(self.draws if dead else 1)]

    def tasks(self) -> list[Task]:
        tasks = []
        for dead, seed in self._drawn():
            network = less_links(self.network, dead, seed)
            tasks += [all_reduce_task(line, network, self.size, None) for line in self.lines]
            arguments = {
                "network": network,
                "network_digest": parse_topology(network).digest,
                "message_bytes": self.size,
                "machine": self.machine.document(),
            }
            tasks.append(Task(f"{BOUND} of {network}", bound_cycles, arguments))
        return tasks

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        left = iter(results)
        found: dict[int, dict[int, dict[str, Fraction]]] = {}
        for dead, seed in self._drawn():
            times = found.setdefault(dead, {}).setdefault(seed, {})
            for name in (*[line.name for line in self.lines], BOUND):
                result = next(left)
                if result["cycles"] is None:
                    where = less_links(self.network, dead, seed)
                    raise UnsupportedError(f"{name} on {where}: {result['reason']}; every line needs a time for every draw")
                times[name] = Fraction(result["cycles"])
        return [cell for dead, draws in found.items() for cell in self._row(dead, draws)]

    def _row(self, dead: int, draws: Mapping[int, Mapping[str, Fraction]]) -> list[Cell]:
        cells, row, ours = [], f"{dead} dead", self.lines[0].name
        for name in (*[line.name for line in self.lines], BOUND):
            times = [draw[name] for draw in draws.values()]
            known = {
                "dead": dead,
                "line": name,
                "least": str(min(times)),
                "most": str(max(times)),
                "by_seed": {str(seed): str(draw[name]) for seed, draw in draws.items()},
            }
            words = f"{round(median(times)):,} ({round(min(times)):,} to {round(max(times)):,})"
            cells.append(Cell(row, f"{name}, cycles", words, more=known | {"median": str(median(times))}))
        for line in self.lines[1:]:
            longer = [draw[line.name] / draw[ours] for draw in draws.values()]
            cells.append(Cell(row, f"{line.name} over {ours}", median(longer)))
            cells.append(Cell(row, f"{line.name} over {ours}, least", min(longer)))
        cells.append(Cell(row, f"{ours} over the bound", median(draw[ours] / draw[BOUND] for draw in draws.values())))
        return cells

    def plot(self, cells: Sequence[Cell]) -> Plot:
        """Medians as lines, with the fastest and the slowest draw of each."""
        series = []
        for name in (*[line.name for line in self.lines], BOUND):
            here = [cell.more for cell in cells if cell.more.get("line") == name]
            for what, key in (("", "median"), (", min", "least"), (", max", "most")) if name != BOUND else (("", "median"),):
                points = tuple((float(more["dead"]), float(Fraction(more[key]))) for more in here)
                series.append(Series(f"{name}{what}", points))
        return Plot((Panel("", tuple(series)),), x_label=f"dead links of {self.network}", y_label="cycles")

    def smoke(self) -> "_DeadLinks":
        """A small torus, whole and in two draws of one dead link."""
        return replace(self, network="torus:4x4", dead=(0, 1), draws=2, size=min(self.size, 1 << 20))

    def titled(self, title: str) -> str:
        known = {"size": size_words(self.size), "network": self.network, "draws": str(self.draws)}
        for name, words in known.items():
            title = title.replace(f"{{{name}}}", words)
        return title

    def on(self, networks: Sequence[str]) -> "_DeadLinks":
        if len(networks) > 1:
            raise InputError(f"--topology {networks[1]}: this target is about one network")
        topology = parse_topology(networks[0])
        if not topology.is_direct or not topology.is_full_duplex:
            raise InputError(f"--topology {networks[0]}: expected a network of full-duplex links between endpoints")
        return replace(self, network=networks[0])


@EXPERIMENTS.register("dead-links")
def dead_links(fields: Fields) -> Experiment:
    """All-reduces of `size` on `network` with 0, 1, ... failed links (`dead`, a list), each drawn `draws` times.

    Draw d of n dead links has the seed 1000·n + d; cells.json has the cycles of each by seed. A line of `lines` has `name`,
    `method` (of several the fastest counts) and may have `options`; the first is certree's. The faster of the
    paced and the slotted simulation counts. The bound is the time by the tight partition. The title may name {size}, {network} and
    {draws}.
    """
    dead, draws, machine = fields.wholes("dead"), fields.whole("draws", 1), load_machine(fields.text("machine"))
    lines = fields.each("lines", lambda entry: rival_of(entry, machine), least=2)
    return _DeadLinks("", dead, draws, fields.size("size"), machine, lines).on([fields.text("network")])


def bound_cycles(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`cycles` of the bound by the tight partition of a network, as a text."""
    strength = network_of(parse_topology(arguments["network"])).strength
    machine = machine_from_document(arguments["machine"], "machine")
    return {"cycles": str(bandwidth_bound_cycles(1 / strength, arguments["message_bytes"], machine))}
