"""Costs of plan types on one switch by the closed forms of GenTree's Tables 1 and 2: in total, and term by term."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise
from math import prod
from typing import Any

from certree.extras.costs.model.formulas.genmodel import GenModel, load_genmodel
from certree.extras.costs.model.profile import Profile, factored_profile, halving_profile, pairwise_profile
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import read_floats
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.extras.workers.task import Task
from certree.models.common.fields import Fields

MODELS = ("GenModel", "(alpha, beta, gamma)")
TERMS = ("alpha", "beta and gamma", "delta", "epsilon")


@dataclass(frozen=True)
class CostedPlan:
    """A plan type by its name, on `servers` servers."""

    name: str
    servers: int
    profile: Profile


@dataclass(frozen=True)
class _PlanCosts(Experiment):
    measure: str
    plans: tuple[CostedPlan, ...]
    floats: Fraction
    model: GenModel

    def tasks(self) -> list[Task]:
        return []

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells = self._seconds() if self.measure == "seconds" else self._shares() + self._trends()
        return cells + [self._cheapest(servers) for servers in dict.fromkeys(plan.servers for plan in self.plans)]

    def _terms(self, plan: CostedPlan) -> dict[str, Fraction]:
        """Seconds of each of TERMS."""
        level, server, profile = self.model.middle, self.model.server, plan.profile
        per_float = {
            "beta and gamma": profile.received * level.beta_seconds_per_float + profile.additions * server.gamma_seconds_per_float,
            "delta": profile.accesses * server.delta_seconds_per_float,
            "epsilon": profile.excess(level.incast_threshold) * level.epsilon_seconds_per_float,
        }
        start_up = profile.steps * (2 * server.alpha_seconds + level.alpha_seconds)
        return {"alpha": start_up} | {name: self.floats * value for name, value in per_float.items()}

    def _seconds(self) -> list[Cell]:
        cells: list[Cell] = []
        for plan in self.plans:
            terms = self._terms(plan)
            known = {"GenModel": sum(terms.values(), Fraction(0)), "(alpha, beta, gamma)": terms["alpha"] + terms["beta and gamma"]}
            cells += [Cell(f"{plan.servers} servers, {plan.name}", model, known[model]) for model in MODELS]
        return cells

    def _shares(self) -> list[Cell]:
        cells: list[Cell] = []
        for plan in self.plans:
            terms = self._terms(plan)
            total = sum(terms.values(), Fraction(0))
            cells += [Cell(f"{plan.servers} servers, {plan.name}", name, terms[name] / total) for name in TERMS]
        return cells

    def _trends(self) -> list[Cell]:
        """The change of each term from the first plan to the last."""
        return [Cell("from first to last", name, _trend([self._terms(plan)[name] for plan in self.plans])) for name in TERMS]

    def _cheapest(self, servers: int) -> Cell:
        costs = {plan.name: sum(self._terms(plan).values()) for plan in self.plans if plan.servers == servers}
        return Cell(f"{servers} servers, cheapest", "GenModel", min(costs, key=lambda name: costs[name]))

    def plot(self, cells: Sequence[Cell]) -> Plot:
        columns = MODELS if self.measure == "seconds" else TERMS
        numbers = [cell for cell in cells if isinstance(cell.ours, Fraction)]
        panels = []
        for servers in dict.fromkeys(plan.servers for plan in self.plans):
            start = f"{servers} servers, "
            series = tuple(
                Series(
                    column,
                    tuple(
                        (cell.row.removeprefix(start), float(cell.ours or 0))
                        for cell in numbers
                        if cell.column == column and cell.row.startswith(start)
                    ),
                )
                for column in columns
            )
            panels.append(Panel(start.strip(", "), series))
        return Plot(tuple(panels), x_label="plan", y_label="s" if self.measure == "seconds" else "of the time", x_scale="names")

    def smoke(self) -> "_PlanCosts":
        return replace(self, plans=self.plans[:2])


def _trend(values: Sequence[Fraction]) -> str:
    if len(set(values)) == 1:
        return "equal"
    if all(a >= b for a, b in pairwise(values)):
        return "falls"
    return "rises" if all(a <= b for a, b in pairwise(values)) else "neither"


@EXPERIMENTS.register("plan-costs")
def plan_costs(fields: Fields) -> Experiment:
    """Plans on `servers` at one switch by GenModel parameters `model`, for a vector of `floats` (one length).

    measure = "seconds": by GenModel and by (alpha, beta, gamma). "terms": parts of GenModel's time, and their change from
    the first plan to the last. `groups` have `servers` and `plans`: "ring", "rhd", "cps", or factors such as "6x2".
    """
    measure = fields.text("measure", known=("seconds", "terms"))
    floats = read_floats(fields)
    if len(floats) != 1:
        fields.refuse(f"floats has {len(floats)} entries; expected one")
    plans = tuple(chain(*fields.each("groups", _plans, least=1)))
    return _PlanCosts(measure, plans, Fraction(floats[0]), load_genmodel(fields.text("model")))


def _plans(fields: Fields) -> list[CostedPlan]:
    servers = fields.whole("servers", 2, 999_999)
    return [CostedPlan(name, servers, _profile(name, servers, fields)) for name in fields.texts("plans")]


def _profile(name: str, servers: int, fields: Fields) -> Profile:
    if name == "ring":
        return pairwise_profile(servers, 2 * (servers - 1))
    if name == "rhd":
        return halving_profile(servers)
    if name == "cps":
        return factored_profile((servers,))
    parts = name.split("x")
    factors = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 7]
    if len(factors) != len(parts) or min(factors) < 2 or prod(factors) != servers:
        fields.refuse(f"plan {name!r} does not fit {servers} servers; expected ring, rhd, cps or factors of {servers} such as AxB")
    return factored_profile(factors)
