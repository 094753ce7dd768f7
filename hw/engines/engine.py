"""The common base of the engines: rows, a core that runs them, data, and the description of a run that stalls."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.core_calls import run_to_end
from certree.hw.engines.runs import EndpointUse, Engine, Options, OtherTraffic
from certree.hw.engines.schedule_rows import ScheduleRows
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.stated_order import StatedOrder
from certree.hw.engines.table_framing import framed
from certree.hw.engines.table_rows import Rows, TableRows
from certree.hw.engines.traces import LinkUses, write_trace
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.schedule.timing import SlotTiming, in_slots, schedule_cycles, slot_timing
from certree.models.tables.tables import Tables

_REPORTED_NODES = 8


class RowEngine(ABC):
    """One run: the framed `source`, its `rows`, the `core` ready to advance, and the data in `cells`, changed in place."""

    name: Engine
    budget: int  # events or flit moves between two looks at signals and at the progress callback
    core: Any  # of `certree.hw._core`

    def __init__(self, source: Tables | SimulatedSchedule, options: Options, cells: NDArray[np.uint64]) -> None:
        self.source, self.cells = framed(source, options.framing), cells
        self.rows: Rows = TableRows(self.source) if isinstance(self.source, Tables) else ScheduleRows(self.source)
        if options.mode == "paced":
            if not options.at_any_timing:
                self.rows.check_paced()
            if self.source.schedule.has_fine_slots:
                self.rows.in_node_order()
        self.order = None if options.stated_order is None else StatedOrder(self.rows, self.source.schedule)
        if options.clocks is not None:
            self.rows.set_clocks(options.clocks)
        self._model = options.endpoint
        if options.step_time == "exact":
            timing = self._timing()
            self.rows.scalars["step_cycles"] = timing.ser + timing.lat + timing.red
        self.endpoints = (
            None if self._model is None else self._model.start(_with_rows(self.source), self.rows, traced=options.is_traced)
        )

    def run(self, progress: Callable[[int], None] | None) -> Mapping[str, int]:
        """Run to the end, or until the run stalls; returns the counters of the core."""
        run_to_end(self.core, self.budget, progress)
        statistics: Mapping[str, int] = self.core.statistics()
        return statistics

    def endpoint_use(self, counters: Mapping[str, int]) -> EndpointUse | None:
        """The use of the endpoints; None where the run models none."""
        if self._model is None or self.endpoints is None:
            return None
        return self._model.use(self.core, self.endpoints, counters)

    def write_trace(self, path: Path, *, force: bool) -> None:
        """Write the trace of a traced run that has ended."""
        events = None if self._model is None or self.endpoints is None else self._model.events(self.core, self.endpoints)
        write_trace(path, self.rows, self.core.trace(), self.link_uses, events, force=force)

    def closed_form(self) -> int:
        """The number of cycles of a slotted run with equal clocks, at the slot length that the tables state."""
        source = self.source
        if source.schedule.has_fine_slots:
            return fine_times(source.schedule).cycles
        timing = in_slots(source.schedule, self._timing(), source.slot_cycles)
        return schedule_cycles(source.schedule, timing, source.machine)

    def _timing(self) -> SlotTiming:
        return slot_timing(self.source.schedule, self.source.message_bytes, self.source.machine)

    @abstractmethod
    def link_uses(self) -> LinkUses:
        """The uses of lanes over time, of a traced run that has ended."""

    def deadlock(self) -> tuple[str, ...]:
        """The waits of each node in a stalled run, in words; empty for a run that has ended."""
        return self._waiting() if self.core.is_deadlocked else ()

    def _waiting(self) -> tuple[str, ...]:
        lines, waiting = [], self.core.waiting()
        for node, row, iteration, arrival in waiting[:_REPORTED_NODES]:
            awaited = self.rows.describe_arrival(arrival) if arrival >= 0 else "its step" + self._or_endpoint
            place = f"in {self.rows.describe_row(row)}, iteration {iteration}," if row >= 0 else "at its end"
            lines.append(f"node {node} {place} waits for {awaited}")
        if len(waiting) > _REPORTED_NODES:
            lines.append(f"and {len(waiting) - _REPORTED_NODES} more nodes wait")
        return tuple(lines)

    @property
    def _or_endpoint(self) -> str:
        return "" if self.endpoints is None else ", or for room at its endpoint"

    def order_faults(self) -> tuple[str, ...]:
        """The first few operands, in words, that were added after one that comes later in the stated order."""
        if self.order is None:
            return ()
        return tuple(self.order.words(*fault) for fault in self.core.order_faults())

    def starved(self) -> tuple[str, ...]:
        """The messages that waited longer than `Options.longest_wait`, in words."""
        return ()

    def other_traffic(self) -> OtherTraffic | None:
        """The results of other packets; None where the engine has none."""
        return None


def _with_rows(source: Tables | SimulatedSchedule) -> Tables:
    if isinstance(source, Tables):
        return source
    why = "" if source.no_tables is None else f": {source.no_tables}"
    raise UnsupportedError(f"endpoints run tables, and this schedule has none{why}")
