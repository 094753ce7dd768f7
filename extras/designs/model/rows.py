"""Results as rows with units in the names of their columns: exact numbers as texts, and next to them the same as floats."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.extras.designs.model.cells import GRID, DesignCell
from certree.extras.sweeps.run.measure import INVALID, MISSING, VALID
from certree.models.common.files import write_atomically

CUT = "cut"  # took longer than the time limit
CLOSED_FORM = "closed form"  # where a time comes from that no run found
GIGA = 10**9
Row = Mapping[str, Any]

#: columns of cells.csv; `_exact` ones are fractions as texts, others without a unit whole numbers, texts or flags. The time of a
#: cell is that of its simulation, or else its closed form, as `time_source` says; a cell whose run is refused or fails has none
COLUMNS = (
    "part", "network", "endpoints", "rate_factor", "latency_factor", "dead_links", "draw", "drawn", "collective", "size_bytes",
    "method", "machine", "seed", "workload", "status", "message", "chunks", "steps", "transfers", "time_source", "time_cycles",
    "time_seconds_exact", "seconds", "algbw_GBps", "busbw_GBps", "time_bound_cycles", "time_over_bound_exact", "time_over_bound",
    "closed_form_cycles", "simulated_cycles", "contention_cycles", "data_ok", "not_simulated", "iteration_seconds_exact",
    "iteration_seconds", "compute_seconds", "exposed_seconds", "options", "key",
)  # fmt: skip


def row_of(cell: DesignCell, endpoints: int, known: Row | None) -> dict[str, Any]:
    """The row of a cell, with the status MISSING where nothing is known of it yet."""
    found = known or {"status": MISSING, "message": "not run yet"}
    row: dict[str, Any] = {
        "part": cell.part, "network": cell.network, "endpoints": endpoints, "rate_factor": float(cell.rate),
        "latency_factor": float(cell.latency), "workload": cell.workload, "method": cell.method, "key": cell.key,
    }  # fmt: skip
    if cell.swept is not None:
        swept = cell.swept
        dead = 0 if swept.failures == "0" else int(swept.failures.split()[0])
        row |= {
            "dead_links": dead, "draw": swept.draw, "drawn": swept.drawn, "collective": swept.collective, "size_bytes": swept.size,
            "method": swept.method, "machine": swept.machine, "seed": swept.seed,
        }  # fmt: skip
    for name in (
        "status", "message", "chunks", "steps", "transfers", "time_bound_cycles", "simulated_cycles", "contention_cycles",
        "data_ok", "not_simulated", "options",
    ):  # fmt: skip
        row[name] = found.get(name)
    if found["status"] == VALID and (fault := found.get("run_fault")):  # neither its time nor its closed form counts
        row |= {"status": INVALID, "message": fault, "closed_form_cycles": found.get("time_cycles")}
        return dict.fromkeys(COLUMNS) | row
    return dict.fromkeys(COLUMNS) | row | _times(found) | _of_training(found)


def _times(found: Row) -> dict[str, Any]:
    """The time that counts, its bandwidths, and what it is over the bound. A simulation that the engines do not support leaves the
    closed form."""
    closed, simulated = found.get("time_cycles"), found.get("simulated_cycles")
    cycles = closed if simulated is None else simulated
    if cycles is None or found.get("seconds") is None:
        return {"closed_form_cycles": closed}
    ratio = Fraction(cycles, closed)
    seconds = Fraction(found["seconds"]) * ratio
    row: dict[str, Any] = {
        "closed_form_cycles": closed, "time_cycles": cycles, "time_seconds_exact": str(seconds), "seconds": float(seconds),
        "time_source": CLOSED_FORM if simulated is None else "simulated",
    }  # fmt: skip
    for name in ("algbw", "busbw"):
        row[f"{name}_GBps"] = None if found.get(name) is None else float(Fraction(found[name]) / ratio / GIGA)
    if found.get("time_bound_cycles"):
        over = Fraction(cycles, found["time_bound_cycles"])
        row |= {"time_over_bound_exact": str(over), "time_over_bound": float(over)}
    return row


def _of_training(found: Row) -> dict[str, Any]:
    row: dict[str, Any] = {"iteration_seconds_exact": found.get("iteration_seconds")}
    return row | {name: _float(found.get(name)) for name in ("iteration_seconds", "compute_seconds", "exposed_seconds")}


def _float(text: str | None) -> float | None:
    return None if text is None else float(Fraction(text))


def csv_of(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """A line for each row, empty where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = (row.get(name) for name in columns)
        writer.writerow([str(value).lower() if isinstance(value, bool) else "" if value is None else value for value in values])
    return stream.getvalue()


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """The rows as CSV."""
    write_atomically(path, csv_of(rows).encode(), force=True)


_FLOATS = (
    "rate_factor", "latency_factor", "seconds", "algbw_GBps", "busbw_GBps", "time_over_bound", "iteration_seconds",
    "compute_seconds", "exposed_seconds",
)  # fmt: skip
_WHOLE = (
    "endpoints", "dead_links", "draw", "size_bytes", "seed", "chunks", "steps", "transfers", "time_cycles", "time_bound_cycles",
    "closed_form_cycles", "simulated_cycles", "contention_cycles",
)  # fmt: skip


def read_rows(text: str) -> list[dict[str, Any]]:
    """The rows of such a CSV, None where there is no value."""
    rows = []
    for entry in csv.DictReader(io.StringIO(text)):
        row: dict[str, Any] = {}
        for name, value in entry.items():
            if value == "":
                row[name] = None
            elif name in _FLOATS:
                row[name] = float(value)
            elif name in _WHOLE:
                row[name] = int(value)
            else:
                row[name] = value == "true" if name == "data_ok" else value
        rows.append(row)
    return rows


def timed(rows: Iterable[Row], part: str = GRID) -> list[Row]:
    """The rows of a part that have a time."""
    return [row for row in rows if row["part"] == part and row["status"] == VALID and row["seconds"] is not None]


def closed_forms(rows: Iterable[Row]) -> int:
    """How many of the times are closed forms."""
    return sum(row["status"] == VALID and row["time_source"] == CLOSED_FORM for row in rows)


def without_result(rows: Iterable[Row]) -> list[Row]:
    """Rows that failed, were cut, are invalid, not applicable or not run yet."""
    return [row for row in rows if row["status"] != VALID]
