"""Plan types that GenTree picks at the switches of several networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.make.plan import basic_placement, choose_plans
from certree.extras.costs.model.formulas.genmodel import GenModel, load_genmodel
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.workers.task import Task
from certree.models.common.fields import Fields, exact_number
from certree.models.common.files import sha256
from certree.models.network.spec import parse_topology
from certree.synth.graphs.switch_tree import CROSSING, SwitchTree, switch_tree


@dataclass(frozen=True)
class Switch:
    """One row: a switch of a network, CROSSING for the link between two top switches."""

    name: str
    network: str
    switch: int


@dataclass(frozen=True)
class _Picks(Experiment):
    switches: tuple[Switch, ...]
    floats: tuple[str, ...]
    model: str
    one_kind: bool

    @property
    def _networks(self) -> list[str]:
        return list(dict.fromkeys(switch.network for switch in self.switches))

    def tasks(self) -> list[Task]:
        asked = {"floats": list(self.floats), "one_kind": self.one_kind}
        return [
            Task(f"GenTree on {network}", pick_plans, network_arguments(network, self.model) | asked) for network in self._networks
        ]

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        picks = dict(zip(self._networks, results, strict=True))
        return [
            Cell(entry.name, floats, picks[entry.network][str(entry.switch)][number])
            for entry in self.switches
            for number, floats in enumerate(self.floats)
        ]

    def smoke(self) -> "_Picks":
        return replace(self, switches=self.switches[:2])


@EXPERIMENTS.register("gentree-picks")
def gentree_picks(fields: Fields) -> Experiment:
    """GenTree's plan type at each of `switches` for vectors of `floats`, by the GenModel parameters `model`.

    A switch has a `name`, a `network` and its id there as `switch`, or "crossing" for the link between two top switches. `one_kind`
    (false by default): where co-located PS is the cheapest plan at one of the switches that `alike` names, all of these take it.
    """
    model = fields.text("model")
    load_genmodel(model)
    one_kind = fields.choice("one_kind", (True, False), default=False)
    return _Picks(fields.each("switches", _switch), read_floats(fields), model, one_kind)


def _switch(fields: Fields) -> Switch:
    text, network = fields.figure("switch"), fields.text("network")
    try:
        switch = CROSSING if text == "crossing" else int(text)
        known = switch in switch_tree(parse_topology(network)).children
    except ValueError:
        known = False
    if not known:
        fields.refuse(f"{network} has no switch {text!r}; expected the id of one, or crossing between two top switches")
    return Switch(fields.text("name"), network, switch)


def read_floats(fields: Fields) -> tuple[str, ...]:
    """The list `floats`: lengths of vectors, whole numbers such as "3.2e7"."""
    texts = fields.figures("floats")
    for text in texts:
        value = exact_number(text)
        if value is None or value < 1 or value.denominator > 1:
            fields.refuse(f"floats has {text!r}; expected whole numbers from 1, such as 3.2e7, in quotes")
    return texts


def network_arguments(network: str, model: str) -> dict[str, Any]:
    """Arguments of a task on a network with GenModel parameters; either may be a file."""
    return {
        "network": network,
        "network_digest": parse_topology(network).digest,
        "model": model,
        "model_digest": sha256(repr(load_genmodel(model)).encode()),
    }


def pick_plans(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """For every switch the names of its plan types, one for each of `floats`."""
    tree = switch_tree(parse_topology(arguments["network"]))
    placement, model = basic_placement(tree), load_genmodel(arguments["model"])
    picks: dict[str, list[str]] = {str(switch): [] for switch in tree.order}
    for floats in arguments["floats"]:
        plans = choose_plans(tree, placement, model, Fraction(floats), rearrange=False)
        names = {switch: plan.name for switch, plan in plans.items()}
        group = alike(tree, names, model) if arguments["one_kind"] else []
        if any(names[switch] == "cps" for switch in group):
            names |= dict.fromkeys(group, "cps")
        for switch, name in names.items():
            picks[str(switch)].append(name)
    return picks


def alike(tree: SwitchTree, names: Mapping[int, str], model: GenModel) -> list[int]:
    """The switches where co-located PS has incast and another plan is allowed: more children than w_t, all of the same size."""
    threshold = model.middle.incast_threshold
    return [switch for switch, name in names.items() if name != "acps" and len(tree.children[switch]) > threshold]
