"""Results of a comparison of designs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from certree.api.reports.text import seconds_words, size_words
from certree.extras.designs.make.charts import Chart, charts_of
from certree.extras.designs.make.ranking import Known, Ranking, rank
from certree.extras.designs.model.bill import Bill
from certree.extras.designs.model.cells import GRID, TRAINING
from certree.extras.designs.model.network_costs import NetworkCosts
from certree.extras.designs.model.rows import CUT, closed_forms
from certree.extras.designs.model.specification import COST, ENDPOINTS, Designs
from certree.extras.designs.model.structure import Structure
from certree.extras.sweeps.run.measure import FAILED, INVALID
from certree.extras.sweeps.run.results.table import frame_of
from certree.models.common.shown import Shown


@dataclass(frozen=True, repr=False)
class ComparedDesigns(Shown):
    """The results of a comparison of designs. `rows`: the cells, as in cells.csv; `structures` and `bills`: of each network."""

    asked: Designs
    folder: Path
    rows: tuple[dict[str, Any], ...]
    structures: Mapping[str, Structure]
    bills: Mapping[str, Mapping[str, Bill]]
    cpu_seconds: float = 0.0

    def title(self) -> str:
        """The title of the specification."""
        return self.asked.title

    def facts(self) -> dict[str, object]:
        """Cells by status."""
        return {"cells": len(self.rows), **self.counts}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Cells by status."""
        return dict(sorted(Counter(row["status"] for row in self.rows).items()))

    @property
    def counts_words(self) -> str:
        """`17 valid, 1 cut; 6 of the times are closed forms`."""
        words = ", ".join(f"{count:,} {status}" for status, count in self.counts.items())
        forms = closed_forms(self.rows)
        return f"{words}; {forms:,} of the times {'is a closed form' if forms == 1 else 'are closed forms'}" if forms else words

    @property
    def exit_code(self) -> int:
        """3 where a cell failed or was cut, else 1 where a schedule is invalid, else 0."""
        return 3 if self.counts.get(FAILED) or self.counts.get(CUT) else int(bool(self.counts.get(INVALID)))

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """The rankings: first by what was asked; then for equal endpoints, where networks have equally many, and for equal cost by
        each model."""
        equal = len({structure.endpoints for structure in self.structures.values()}) == 1
        by_cost = [(COST, costs) for costs in self.asked.costs]
        by_endpoints = [(ENDPOINTS, self.asked.costs[0])] if equal else []
        order = by_cost + by_endpoints if self.asked.equal == COST else by_endpoints + by_cost
        return tuple(
            rank(Known(self.rows, self.structures, self.bills[costs.name], costs.currency), by, costs.name) for by, costs in order
        )

    def charts(self) -> list[Chart]:
        """Curves and bars that have a point."""
        currencies = {name: self.currency(name) for name in self.bills}
        return charts_of(self.rows, list(self.structures), self.bills, currencies)

    def frame(self) -> Any:
        """The cells as a DataFrame of pandas; ToolMissingError without pandas."""
        return frame_of(self.rows)

    def network_rows(self) -> list[dict[str, Any]]:
        """A row for each network and cost model, as in networks.csv: structure, cost and power."""
        found = []
        for model, bills in self.bills.items():
            for name, structure in self.structures.items():
                bill = bills[name]
                parts = {f"{group}_cost": float(bill.cost_of(group)) for group in ("ports", "switches", "cables")}
                found.append(
                    {"network": name, **structure.document(), "cost_model": model, "currency": self.currency(model)}
                    | {"cost_exact": str(bill.cost), "cost": float(bill.cost), **parts, "energy_cost": float(bill.energy)}
                    | {"cost_per_endpoint": float(bill.cost / structure.endpoints), "power_watts": float(bill.watts)}
                    | {"copper_cables": bill.cables_of("copper"), "optical_cables": bill.cables_of("optical")}
                    | {"cables": bill.count_of("cables")}
                    | {"racks": bill.racks}
                )
        return found

    def times(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of a table of times: of each network those of the smallest and the largest message of each collective,
        and of an iteration of each workload; `-` where there is none."""
        columns = dict[str, dict[str, str]]()
        for row in self.rows:
            if row["part"] == GRID and row["size_bytes"] in (min(self.asked.sizes), max(self.asked.sizes)):
                name, seconds = f"{row['collective']}, {size_words(row['size_bytes'])}", row["time_seconds_exact"]
            elif row["part"] == TRAINING:
                name, seconds = f"iteration of {row['workload']}", row["iteration_seconds_exact"]
            else:
                continue
            columns.setdefault(name, {})[row["network"]] = "-" if seconds is None else seconds_words(seconds)
        rows = [[name, *(column.get(name, "-") for column in columns.values())] for name in self.structures]
        return ["network", *(f">{name}" for name in columns)], rows

    def currency(self, model: str) -> str:
        """The currency of a cost model."""
        return self.costs(model).currency

    def costs(self, model: str) -> NetworkCosts:
        """The cost model of that name."""
        return next(costs for costs in self.asked.costs if costs.name == model)
