"""GenTree's plan compared with the best one of its family and with a lower bound on any schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.extras.costs.make.along_trees import TreeSearch
from certree.extras.costs.make.plan import LocalPlan, Placement, basic_placement, choose_plans, leaving_blocks
from certree.extras.costs.make.plan_family import best_plans
from certree.extras.costs.make.plan_timer import PlanTimer
from certree.extras.costs.model.flows.least import least_seconds
from certree.extras.costs.model.flows.time import FlowTimer, Reading, parse_reading
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, GenModel, load_genmodel
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import network_arguments, read_floats
from certree.extras.workers.task import Task
from certree.models.common.errors import UnsupportedError
from certree.models.common.fields import Fields
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.graphs.switch_tree import SwitchTree, switch_tree
from certree.synth.method import Request, load_methods
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import best_bounds


@dataclass(frozen=True)
class _PlanFamily(Experiment):
    networks: tuple[str, ...]
    floats: tuple[str, ...]
    model: str
    reading: Reading

    def tasks(self) -> list[Task]:
        return [
            Task(f"plans for {floats} floats on {network}", search_family, self._arguments(network) | {"floats": floats})
            for network in self.networks
            for floats in self.floats
        ]

    def _arguments(self, network: str) -> dict[str, Any]:
        return network_arguments(network, self.model) | {"reading": vars(self.reading)}

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells: list[Cell] = []
        for task, result in zip(self.tasks(), results, strict=True):
            row = f"{task.arguments['network']} {task.arguments['floats']}"
            greedy, best = Fraction(result["greedy_seconds"]), Fraction(result["best_seconds"])
            rate, bound = Fraction(result["bandwidth"]), Fraction(result["bandwidth_bound"])
            more = {name: result[name] for name in ("timed", "cut")}
            cells += [
                Cell(row, "GenTree, s", greedy, more=more),
                Cell(row, "best of its family, s", best, more=more),
                Cell(row, "gain", greedy / best - 1),
                Cell(row, "GenTree's plan", "the best" if greedy == best else result["greedy"]),
                Cell(row, "best plan", result["best"]),
                Cell(row, "any schedule ≥, s", least := Fraction(result["least_seconds"])),
                Cell(row, "GenTree over it", greedy / least - 1),
                Cell(row, "best of its family over it", best / least - 1),
                Cell(row, "GenTree, M/B", rate),
                Cell(row, "any schedule, bandwidth time ≥, M/B", bound),
            ]
            if "trees_seconds" in result:
                trees, proved = Fraction(result["trees_seconds"]), Fraction(result["trees_bound"])
                cells += [
                    Cell(row, "best along trees, s", trees, more={"steps": result["trees_steps"]}),
                    Cell(row, "any along trees ≥, s", proved),
                    Cell(row, "GenTree over that", greedy / proved - 1),
                ]
        return cells

    def smoke(self) -> "_PlanFamily":
        return replace(self, networks=self.networks[:1], floats=self.floats[:1])

    def on(self, networks: Sequence[str]) -> "_PlanFamily":
        for network in networks:
            switch_tree(parse_topology(network))
        return replace(self, networks=tuple(networks))


@EXPERIMENTS.register("plan-family")
def plan_family(fields: Fields) -> Experiment:
    """GenTree's greedy plan and the best one of its family, on `networks` for vectors of `floats`.

    Both are timed by their transfers with the GenModel parameters `model` in the given `reading`; the search is exact. Further
    columns: the least seconds of any schedule (`certree.extras.costs.model.flows.least`); the bandwidth time of GenTree's schedule
    and the best lower bound on that of any schedule; and on networks of few servers the best schedule along any trees, with a bound
    on all of these (`certree.extras.costs.make.along_trees`).
    """
    model = fields.text("model")
    load_genmodel(model)
    reading = parse_reading(fields.mapping("reading"))
    return _PlanFamily((), read_floats(fields), model, reading).on(fields.texts("networks"))


def search_family(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`greedy_seconds`, `best_seconds`, `least_seconds`, the plans in words, how many combinations were `timed` and `cut`, and
    `bandwidth` with its `bandwidth_bound`."""
    topology, model = parse_topology(arguments["network"]), load_genmodel(arguments["model"])
    tree, floats = switch_tree(topology), Fraction(arguments["floats"])
    placement = basic_placement(tree)
    timer = PlanTimer(tree, placement, FlowTimer(topology, model, floats, parse_reading(arguments["reading"])))
    greedy = choose_plans(tree, placement, model, floats, rearrange=True)
    best = best_plans(timer)
    collective = parse_collective("all-reduce")
    options = {"model": arguments["model"]}
    request = Request(topology, collective, int(floats) * FLOAT_BYTES, load_machine("multitree"), options=options)
    schedule = load_methods()["gentree"](request)
    bound = best_bounds(Instance(topology, collective), find_bounds(topology, collective))["bandwidth"][0]
    return {
        "greedy_seconds": str(timer.plan(greedy)),
        "best_seconds": str(best.seconds),
        "least_seconds": str(least_seconds(topology, model, floats).seconds),
        "greedy": plan_words(tree, placement, greedy),
        "best": plan_words(tree, placement, best.plans),
        "timed": best.timed,
        "cut": best.cut,
        "bandwidth": str(schedule.bandwidth_time),
        "bandwidth_bound": str(bound),
        **_along_trees(topology, model, floats),
    }


def _along_trees(topology: Topology, model: GenModel, floats: Fraction) -> dict[str, Any]:
    """`trees_seconds`, `trees_bound` and `trees_steps`; nothing where the search is too large."""
    try:
        search = TreeSearch(topology, model)
    except UnsupportedError:
        return {}
    found = search.best(floats)
    seconds, steps = found.best.seconds(floats), len(found.best.start_ups)
    return {"trees_seconds": str(seconds), "trees_bound": str(found.at_least), "trees_steps": steps}


def plan_words(tree: SwitchTree, placement: Placement, plans: Mapping[int, LocalPlan]) -> str:
    """The plan types from the leaves up, each once, and the numbers of servers that send where results were rearranged."""
    words: list[str] = []
    for switch in tree.order:
        senders = sorted(
            {
                len(np.unique(holders[leaving_blocks(tree, placement, switch, child)]))
                for child, holders in plans[switch].moved.items()
            }
        )
        words.append(plans[switch].name + (f" from {'/'.join(map(str, senders))}" if senders else ""))
    return ", ".join(dict.fromkeys(words))
