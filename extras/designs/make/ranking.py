"""The order of the networks, and its reasons in sentences made from the numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, prod
from statistics import median
from typing import Any

from certree.api.reports.text import counted, seconds_words, size_words
from certree.extras.designs.model.bill import Bill
from certree.extras.designs.model.cells import FAILURES, GRID, SENSITIVITY, TRAINING
from certree.extras.designs.model.rows import Row, closed_forms, timed, without_result
from certree.extras.designs.model.specification import COST
from certree.extras.designs.model.structure import Structure
from certree.extras.sweeps.run.measure import VALID

Cell = tuple[str, int]  # collective and size


@dataclass(frozen=True)
class Place:
    """A network in a ranking. `score`: the geometric mean, over the cells, of the least time over its time (times cost, where
    networks are compared for the same cost); None where it has no place. `reasons`: sentences."""

    network: str
    score: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """The networks, the best first. `by`: "endpoints", or "cost" by the cost model `costs`; `cells`: how many cells decided, of
    `asked` ones of each network; `closed_forms`: how many of the times that decided come from no run."""

    by: str
    costs: str
    cells: int
    asked: int
    closed_forms: int
    places: tuple[Place, ...]

    @property
    def title(self) -> str:
        """The title: by what it ranks."""
        return f"Ranking for equal cost, by {self.costs}" if self.by == COST else "Ranking for equal endpoints"

    @property
    def basis(self) -> str:
        """The cells that decided: `2 of 3 cells decide; 1 of 4 times is a closed form`."""
        words = f"{self.cells} of {counted(self.asked, 'cells')} decide{'s' * (self.cells == 1)}"
        if not self.closed_forms:
            return words
        times = counted(self.cells * sum(place.score is not None for place in self.places), "times")
        return f"{words}; {self.closed_forms} of {times} {'is a closed form' if self.closed_forms == 1 else 'are closed forms'}"

    def document(self) -> dict[str, Any]:
        """Plain JSON."""
        places = [{"network": one.network, "score": one.score, "reasons": list(one.reasons)} for one in self.places]
        numbers = {"cells": self.cells, "asked": self.asked, "closed_forms": self.closed_forms}
        return {"by": self.by, "costs": self.costs, **numbers, "places": places}


@dataclass(frozen=True)
class Known:
    """The numbers from which sentences are made. `bills`: of one cost model, in its currency."""

    rows: Sequence[Row]
    structures: Mapping[str, Structure]
    bills: Mapping[str, Bill]
    currency: str


def rank(known: Known, by: str, costs: str) -> Ranking:
    """Order networks by the product of their exact times, over the cells that all of them have; for equal cost each time counts
    times the cost of the network. Ties: the cheaper one, then the name.

    A network without any time has no place, and stands last with the reason; one that lacks some cells limits the cells that
    decide.
    """
    times = _times(known.rows)
    have = [name for name in known.structures if times.get(name)]
    common = sorted(set.intersection(*(set(times[name]) for name in have))) if have else []
    weight = {name: known.bills[name].cost if by == COST else Fraction(1) for name in known.structures}
    product = {name: prod((times[name][cell] * weight[name] for cell in common), start=Fraction(1)) for name in have}
    ordered = sorted(have, key=lambda name: (product[name], known.bills[name].cost, name)) if common else []
    least = {cell: min(times[name][cell] * weight[name] for name in have) for cell in common}
    places = []
    for place, name in enumerate(ordered):
        score = _mean(prod(least.values(), start=Fraction(1)) / product[name], len(common))
        reasons = [_first(ordered, place, product, len(common), by, known), *_lost_words(name, known.rows)]
        reasons += _cells_words(name, common, times, known, by)
        places.append(Place(name, score, (*reasons, *_more(name, known))))
    for name in known.structures:
        if name not in ordered:
            places.append(Place(name, None, (_without(name, known.rows, bool(have)), *_more(name, known))))
    grid = [row for row in known.rows if row["part"] == GRID]
    decide = [row for row in timed(grid) if row["network"] in ordered and _cell(row) in common]
    return Ranking(by, costs, len(common), len({_cell(row) for row in grid}), closed_forms(decide), tuple(places))


def _mean(product: Fraction, count: int) -> float:
    """The geometric mean of `count` ratios with that product, to be shown: products of many cells are beyond floats."""
    return float(product) if count == 1 else exp((log(product.numerator) - log(product.denominator)) / count)


def _cell(row: Row) -> Cell:
    return row["collective"], row["size_bytes"]


def _times(rows: Sequence[Row]) -> dict[str, dict[Cell, Fraction]]:
    found: dict[str, dict[Cell, Fraction]] = {}
    for row in timed(rows):
        found.setdefault(row["network"], {})[_cell(row)] = Fraction(row["time_seconds_exact"])
    return found


def _first(
    ordered: Sequence[str], place: int, product: Mapping[str, Fraction], cells: int, by: str, known: Known
) -> str:  # fmt: skip
    """How it compares with the next one, or with the first; with their endpoints, where networks have not equally many."""
    what = "time for the same cost" if by == COST else "time"
    name, mean = ordered[place], f"in the geometric mean over {counted(cells, 'cells')}"
    if len(ordered) == 1:
        return f"{name} is the only network with results."
    other = ordered[1 if place == 0 else 0]
    ratio, same = _mean(product[name] / product[other], cells), product[name] == product[other]
    counts = {one: structure.endpoints for one, structure in known.structures.items()}
    first, second = (f"{one} ({counts[one]:,} endpoints)" if len(set(counts.values())) > 1 else one for one in (name, other))
    if place == 0:
        takes = f"the same {what} as" if same else f"{ratio:.2f} of the {what} of"
        cheaper = " and costs less" if same and known.bills[name].cost < known.bills[other].cost else ""
        return f"{first} is first: it takes {takes} {second}, the next one, {mean}{cheaper}."
    takes = f"the same {what} as" if same else f"{ratio:.2f} times the {what} of"
    return f"{first} takes {takes} {second}, the first one, {mean}."


def _lost(name: str, rows: Sequence[Row]) -> list[Row]:
    """The cells of the grid that have no result."""
    return [row for row in without_result(rows) if row["network"] == name and row["part"] == GRID]


def _lost_words(name: str, rows: Sequence[Row]) -> list[str]:
    """How many of its cells have no result, by status."""
    lost = Counter(row["status"] for row in _lost(name, rows))
    if not lost:
        return []
    which = ", ".join(lost) if len(lost) == 1 else ", ".join(f"{count} {status}" for status, count in sorted(lost.items()))
    count = lost.total()
    return [f"{count} of its cells {'has' if count == 1 else 'have'} no result ({which})."]


def _cells_words(
    name: str, common: Sequence[Cell], times: Mapping[str, Mapping[Cell, Fraction]], known: Known, by: str
) -> list[str]:
    """The number of cells in which it is the fastest, and the cell in which it is farthest from that, in words."""
    least = {cell: min(of[cell] for of in times.values() if cell in of) for cell in common}
    fastest = [cell for cell in common if times[name][cell] == least[cell]]
    ratio, worst = max((times[name][cell] / least[cell], cell) for cell in common)
    without = " without the factor of cost" if by == COST else ""
    words = [f"It is the fastest in {len(fastest)} of {counted(len(common), 'cells')}{without}."]
    if ratio > 1:
        other = next(one for one in known.structures if one in times and times[one].get(worst) == least[worst])
        words.append(f"{worst[0].capitalize()} of {size_words(worst[1])} takes {float(ratio):.2f} times as long as on {other}.")
    over = [row["time_over_bound"] for row in timed(known.rows) if row["network"] == name and row["time_over_bound"] is not None]
    if over:
        words.append(f"Its times are {min(over):.2f} to {max(over):.2f} times the time bounds of its links.")
    return words


def _more(name: str, known: Known) -> list[str]:
    """Cost, structure, failures, sensitivity and training."""
    structure, bill = known.structures[name], known.bills[name]
    parts = {group: bill.cost_of(group) for group in ("ports", "switches", "cables")} | {"energy": bill.energy}
    largest = max(parts, key=lambda group: parts[group])
    cost = (
        f"It costs {float(bill.cost):,.0f} {known.currency}, {float(bill.cost / structure.endpoints):,.0f} for each endpoint;"
        f" {float(100 * parts[largest] / bill.cost):.0f} % of it are {largest},"
        f" and {bill.cables_of('optical'):,} of {bill.count_of('cables'):,} cables are optical."
    )
    links = (
        f"At least {float(structure.endpoint_rate):,g} GB/s leave each endpoint."
        f" Its bisection is {structure.bisection_words}, its diameter {counted(structure.diameter_hops, 'hops')},"
        f" and two endpoints have at least {counted(structure.least_disjoint, 'link-disjoint paths')}."
    )
    return [
        cost,
        links,
        *_failure_words(name, known.rows),
        *_sensitivity_words(name, known.rows),
        *_training_words(name, known.rows),
    ]


def _failure_words(name: str, rows: Sequence[Row]) -> list[str]:
    """How much longer the time is with the most dead links that have results."""
    mine = [row for row in timed(rows, FAILURES) if row["network"] == name]
    found = []
    for collective in dict.fromkeys(row["collective"] for row in mine):
        of = [row for row in mine if row["collective"] == collective]
        whole = [row["seconds"] for row in of if row["dead_links"] == 0]
        most = max(row["dead_links"] for row in of)
        if whole and most:
            ratios = [row["seconds"] / whole[0] for row in of if row["dead_links"] == most]
            found.append(
                f"With {counted(most, 'dead links')} {collective} of {size_words(of[0]['size_bytes'])} takes {median(ratios):.2f}"
                f" times as long in the median of {counted(len(ratios), 'draws')}, {max(ratios):.2f} times in the worst, by"
                f" {of[0]['method']}."
            )
    return found


def _sensitivity_words(name: str, rows: Sequence[Row]) -> list[str]:
    """The effect of the largest factors of link rate and of latencies on the time of each collective."""
    mine = [row for row in timed(rows, SENSITIVITY) if row["network"] == name]
    found = []
    for collective in dict.fromkeys(row["collective"] for row in mine):
        of = [row for row in mine if row["collective"] == collective]
        base = [row["seconds"] for row in of if row["rate_factor"] == row["latency_factor"] == 1]
        for column, what in (("rate_factor", "the link rate"), ("latency_factor", "all latencies")):
            factors = [row for row in of if row[column] != 1]
            if base and factors:
                row = max(factors, key=lambda one: float(one[column]))
                cell = f"{collective} of {size_words(row['size_bytes'])}, by {row['method']}"
                found.append(f"{row[column]:g} times {what} takes {row['seconds'] / base[0]:.2f} of the time of {cell}.")
    return found


def _training_words(name: str, rows: Sequence[Row]) -> list[str]:
    found = []
    for row in rows:
        if row["part"] == TRAINING and row["network"] == name and row["status"] == VALID:
            share = row["exposed_seconds"] / row["iteration_seconds"] if row["iteration_seconds"] else 0
            time = seconds_words(row["iteration_seconds_exact"])
            more = f"; {row['message']}" if row["message"] else ""
            found.append(f"An iteration of {row['workload']} takes {time}, of which {share:.0%} is exposed communication{more}.")
    return found


def _without(name: str, rows: Sequence[Row], others: bool) -> str:
    """Why a network has no place."""
    lost = _lost(name, rows)
    if lost:
        message = str(lost[0]["message"]).rstrip(".")
        how_many = f"{counted(len(lost), 'cells')} {'has' if len(lost) == 1 else 'have'} no result"
        return f"{name} has no place: {how_many}; the first one is {lost[0]['status']}: {message}."
    return f"{name} has no place: {'no cell has a time on all networks' if others else 'no cell has a time'}."
