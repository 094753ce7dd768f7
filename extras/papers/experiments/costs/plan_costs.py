"""Costs of plan types on one switch by the closed forms of GenTree's Tables 1 and 2: in total, and term by term."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise
from math import prod
from typing import Any

from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, GenModel, load_genmodel
from certree.extras.costs.model.profile import Profile, factored_profile, halving_profile, pairwise_profile
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import read_floats
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.models.common.fields import Fields
from certree.models.common.quantities import parse_bandwidth

MODELS = ("GenModel", "(alpha, beta, gamma)")
TERMS = ("alpha", "beta and gamma", "delta", "epsilon")
CALCULATION, COMMUNICATION = PARTS = ("calculation", "communication")


@dataclass(frozen=True)
class CostedPlan:
    """A plan type by its name, in the group `where`: a number of servers, and perhaps the bandwidth of their links."""

    name: str
    where: str
    profile: Profile
    beta_seconds_per_float: Fraction


@dataclass(frozen=True)
class _PlanCosts(Experiment):
    measure: str
    plans: tuple[CostedPlan, ...]
    floats: Fraction
    model: GenModel

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        if self.measure == "parts":
            return self._parts()
        cells = self._seconds() if self.measure == "seconds" else self._shares() + self._trends()
        return cells + [self._cheapest(where) for where in self._groups()]

    def _groups(self) -> dict[str, list[CostedPlan]]:
        """The plans of each group, by its name."""
        groups: dict[str, list[CostedPlan]] = {}
        for plan in self.plans:
            groups.setdefault(plan.where, []).append(plan)
        return groups

    def _terms(self, plan: CostedPlan) -> dict[str, Fraction]:
        """Seconds of each of TERMS."""
        five = self._five_terms(plan)
        return {name: five[name] if name in five else five["beta"] + five["gamma"] for name in TERMS}

    def _five_terms(self, plan: CostedPlan) -> dict[str, Fraction]:
        """Seconds of each of the five terms of GenModel, by its symbol."""
        level, server, profile = self.model.middle, self.model.server, plan.profile
        per_float = {
            "beta": profile.received * plan.beta_seconds_per_float,
            "gamma": profile.additions * server.gamma_seconds_per_float,
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
            cells += [Cell(f"{plan.where}, {plan.name}", model, known[model]) for model in MODELS]
        return cells

    def _shares(self) -> list[Cell]:
        cells: list[Cell] = []
        for plan in self.plans:
            terms = self._terms(plan)
            total = sum(terms.values(), Fraction(0))
            cells += [Cell(f"{plan.where}, {plan.name}", name, terms[name] / total) for name in TERMS]
        return cells

    def _trends(self) -> list[Cell]:
        """The change of each term from the first plan to the last."""
        return [Cell("from first to last", name, trend([self._terms(plan)[name] for plan in self.plans])) for name in TERMS]

    def _cheapest(self, where: str) -> Cell:
        costs = {plan.name: sum(self._terms(plan).values()) for plan in self._groups()[where]}
        return Cell(f"{where}, cheapest", "GenModel", min(costs, key=lambda name: costs[name]))

    def _parts(self) -> list[Cell]:
        """Seconds at servers and of links, and what a figure of both shows, group by group."""
        cells: list[Cell] = []
        for where, plans in self._groups().items():
            five = [self._five_terms(plan) for plan in plans]
            calculation = [terms["gamma"] + terms["delta"] for terms in five]
            communication = [terms["alpha"] + terms["beta"] + terms["epsilon"] for terms in five]
            for plan, *seconds in zip(plans, calculation, communication, strict=True):
                cells += [Cell(f"{where}, {plan.name}", part, time) for part, time in zip(PARTS, seconds, strict=True)]
            two = sorted(sorted(range(len(plans)), key=lambda number: communication[number])[-2:])
            cells += [
                Cell(f"{where}, from first to last", CALCULATION, trend(calculation)),
                Cell(f"{where}, saved by the last", CALCULATION, 1 - calculation[-1] / calculation[0]),
                Cell(f"{where}, the two with the most", COMMUNICATION, " and ".join(plans[number].name for number in two)),
            ]
        return cells

    def plot(self, cells: Sequence[Cell]) -> Plot:
        columns = {"seconds": MODELS, "parts": PARTS}.get(self.measure, TERMS)
        numbers = [cell for cell in cells if isinstance(cell.ours, Fraction)]
        panels = []
        for where in self._groups():
            start = f"{where}, "
            series = tuple(
                Series(
                    column,
                    tuple(
                        (cell.row.removeprefix(start), float(cell.ours or 0))
                        for cell in numbers
                        if cell.column == column and cell.row.startswith(start) and "saved" not in cell.row
                    ),
                )
                for column in columns
            )
            panels.append(Panel(start.strip(", "), series))
        return Plot(tuple(panels), x_label="plan", y_label="of the time" if self.measure == "terms" else "s", x_scale="names")

    def smoke(self) -> "_PlanCosts":
        return replace(self, plans=tuple(self._groups()[self.plans[0].where]))


def trend(values: Sequence[Fraction]) -> str:
    """Whether values are equal, fall, rise (none back), or neither."""
    if len(set(values)) == 1:
        return "equal"
    if all(a >= b for a, b in pairwise(values)):
        return "falls"
    return "rises" if all(a <= b for a, b in pairwise(values)) else "neither"


@EXPERIMENTS.register("plan-costs")
def plan_costs(fields: Fields) -> Experiment:
    """Plans on `servers` at one switch by GenModel parameters `model`, for a vector of `floats` (one length).

    measure = "seconds": by GenModel and by (alpha, beta, gamma). "terms": parts of GenModel's time, and their change from
    the first plan to the last. "parts": seconds at servers (calculation: gamma and delta) and of the other terms (communication),
    the change of the former, how much of it the last plan saves, and the two plans with the most of the latter. `groups` have
    `servers` and `plans`: "ring", "rhd", "cps", or factors such as "6x2"; and may have the `bandwidth` of their links ("100Gb/s"),
    by which beta is another one than the model's.
    """
    measure = fields.text("measure", known=("seconds", "terms", "parts"))
    floats = read_floats(fields)
    if len(floats) != 1:
        fields.refuse(f"floats has {len(floats)} entries; expected one")
    model = load_genmodel(fields.text("model"))
    plans = tuple(chain(*fields.each("groups", lambda entry: _plans(entry, model), least=1)))
    return _PlanCosts(measure, plans, Fraction(floats[0]), model)


def _plans(fields: Fields, model: GenModel) -> list[CostedPlan]:
    servers = fields.whole("servers", 2, 999_999)
    where, beta = f"{servers} servers", model.middle.beta_seconds_per_float
    if "bandwidth" in fields:
        text = fields.text("bandwidth")
        where, beta = f"{where} at {text}", FLOAT_BYTES / parse_bandwidth(text, fields.where)
    return [CostedPlan(name, where, _profile(name, servers, fields), beta) for name in fields.texts("plans")]


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
