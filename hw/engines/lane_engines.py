"""Engines on lanes, without routers: `fast`, event by event, and `lanes`, flit by flit with the same results."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.hw import _core
from certree.hw.engines.core_program import Program
from certree.hw.engines.engine import RowEngine
from certree.hw.engines.runs import Engine, Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.traces import LinkUses, lane_uses
from certree.models.tables.tables import Tables


class LaneEngine(RowEngine):
    """The engines `fast`, which handles a message once for each lane that it takes, and `lanes`, which moves every flit through
    every stage; both give the same result.

    Raises TableFormatError for malformed tables, UnsupportedError for runs that the machine does not support. Time: fast O(hops of
    all messages · log), lanes O(flits · hops). Memory O(rows + nodes · chunks · repeats), lanes also O(lanes · latency), with a
    trace also O(hops of all messages).
    """

    budget = 1 << 22

    def __init__(self, source: Tables | SimulatedSchedule, options: Options, cells: NDArray[np.uint64]) -> None:
        self.name = Engine.LANES if options.engine == Engine.LANES else Engine.FAST
        super().__init__(source, options, cells)
        self._program = Program(self.source, self.rows)
        if self.name == Engine.LANES:
            self._program.check_stages()
        traced = options.is_traced
        self.core = _core.Run(
            self._program.scalars, self._program.columns, self.name.value, options.mode, cells, traced, self.endpoints
        )
        if options.endpoint is not None:
            options.endpoint.prepare(self.core)

    def run(self, progress: Callable[[int], None] | None) -> Mapping[str, int]:
        """Run to the end, or until the run stalls; returns the counters of the core, in whole flits: lanes count their cycles."""
        counters, scale = super().run(progress), self.source.topology.scale
        if scale == 1:
            return counters
        flits = int(counters["flit_hops"] / Fraction(scale))
        if counters["messages"] == self.rows.scalars["repeats"] * len(self.rows.flits):  # cycles are rounded up, message by message
            flits = self.rows.scalars["repeats"] * int((self.rows.flits * self.rows.hops(self.source.schedule.routes)).sum())
        return {**counters, "flit_hops": flits}

    def link_uses(self) -> LinkUses:
        """The uses of lanes over time, of a traced run that has ended."""
        return lane_uses(self._program, self.core.hops())
