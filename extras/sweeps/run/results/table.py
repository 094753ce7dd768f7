"""The results of a sweep as rows, and as files: CSV, and Parquet where pyarrow is installed."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

from certree.models.common.errors import ToolMissingError
from certree.models.common.files import write_atomically

TEXT, COUNT, FLAG, NUMBER = "text", "count", "flag", "number"
#: columns and their types, for values that may be missing; exact numbers are texts such as "9/16"
COLUMNS: dict[str, str] = {
    "network": TEXT, "failures": TEXT, "draw": COUNT, "drawn": TEXT, "collective": TEXT, "size": COUNT, "method": TEXT,
    "machine": TEXT, "seed": COUNT, "run": TEXT, "status": TEXT, "message": TEXT, "chunks": COUNT, "steps": COUNT,
    "total_steps": COUNT, "delay": COUNT, "period": COUNT, "repeats": COUNT, "transfers": COUNT, "bandwidth_time": TEXT,
    "bandwidth_bound": TEXT, "gap_bandwidth": TEXT, "latency_steps": COUNT, "latency_bound": COUNT, "gap_latency": TEXT,
    "optimal_in": TEXT, "time_cycles": COUNT, "seconds": TEXT, "bytes_per_second": TEXT, "time_unknown": TEXT,
    "bound_cycles": TEXT, "time_bound_cycles": COUNT, "time_over_bound": TEXT, "simulated_cycles": COUNT, "simulated_seconds": TEXT,
    "contention_cycles": COUNT, "late": COUNT, "data_ok": FLAG, "exact": FLAG, "engine": TEXT, "not_simulated": TEXT,
    "run_fault": TEXT, "key": TEXT,
    "shares": TEXT, "bandwidth_bound_any_shares": TEXT, "time_bound_cycles_any_shares": COUNT, "time_over_bound_any_shares": TEXT,
    "time_bound_seconds": TEXT, "options": TEXT, "algbw": TEXT, "busbw": TEXT,
    "endpoint": TEXT, "sram": COUNT, "state_machines": COUNT, "sram_peak": COUNT,
    "engine_square_micrometres": TEXT, "engine_watts": TEXT,
}  # fmt: skip
#: columns with floats, next to the exact text in a column ..._exact; and bandwidths, which also have a column in GB/s
FLOATS = ("seconds", "simulated_seconds", "time_bound_seconds", "time_over_bound", "time_over_bound_any_shares")
BANDWIDTHS = ("algbw", "busbw")
COLUMNS |= (
    dict.fromkeys(FLOATS, NUMBER) | {f"{name}_exact": TEXT for name in FLOATS} | {f"{name}_GBps": NUMBER for name in BANDWIDTHS}
)
_GROUP = 10_000  # rows of Parquet that are written at once

Row = Mapping[str, Any]


def write_csv(rows: Iterable[Row], path: Path) -> None:
    """A line for each row, empty where there is no value; `true` and `false`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        shown = plottable(row)
        writer.writerow([_written(shown.get(name)) for name in COLUMNS])
    write_atomically(path, stream.getvalue().encode(), force=True)


def _written(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else value


def write_parquet(rows: Iterable[Row], path: Path) -> bool:
    """Write the rows as Parquet; returns whether pyarrow is there to do so."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return False
    types = {TEXT: pa.string(), COUNT: pa.int64(), FLAG: pa.bool_(), NUMBER: pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, schema) as writer:
        for group in _groups(iter(rows)):
            writer.write_table(pa.Table.from_pylist(group, schema))
    write_atomically(path, stream.getvalue(), force=True)
    return True


def _groups(rows: Iterator[Row]) -> Iterator[list[dict[str, Any]]]:
    while group := [
        {name: _typed(row.get(name), kind) for name, kind in COLUMNS.items()} for row in islice(map(plottable, rows), _GROUP)
    ]:
        yield group


def _typed(value: Any, kind: str) -> Any:
    return str(value) if kind == TEXT and value is not None else value


def frame_of(rows: Sequence[Row]) -> Any:
    """Rows as a DataFrame of pandas; ToolMissingError where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        raise ToolMissingError("DataFrames need pandas: pip install 'certree[frames]'") from None
    return pd.DataFrame(list(rows))


def plottable(row: Row) -> dict[str, Any]:
    """A row whose FLOATS are numbers, with the exact texts under `..._exact`, and bandwidths in GB/s next to those in bytes a
    second."""
    found = dict(row)
    for name in FLOATS:
        text = row.get(name)
        if text is not None:
            found |= {name: float(Fraction(text)), f"{name}_exact": text}
    for name in BANDWIDTHS:
        if row.get(name) is not None:
            found[f"{name}_GBps"] = float(Fraction(row[name]) / 10**9)
    return found
