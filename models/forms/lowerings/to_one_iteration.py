"""Iterations written out."""

from dataclasses import replace
from typing import Any

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.forms.lowering_chain import LOWERINGS, Lowering
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import MAX_TRANSFERS, AnySchedule, written_out


@LOWERINGS.register("to-one-iteration")
class ToOneIteration(Lowering):
    """One iteration in place of R that overlap, on the chunks of all of them: chunk c of iteration i is chunk i·K + c."""

    removes = frozenset(("period",))

    def apply(self, schedule: AnySchedule) -> Schedule:
        """The transfers of all iterations. UnsupportedError for more than MAX_TRANSFERS."""
        one = written_out(schedule)
        if one.repeats == 1:
            return replace(one, period=None, certificate=None)
        if one.transfers * one.repeats > MAX_TRANSFERS:
            raise UnsupportedError(f"{one.repeats} iterations of {one.transfers} transfers; allowed: {MAX_TRANSFERS} in all")
        columns: dict[str, Any] = {name: np.tile(getattr(one, name), one.repeats) for name in one.columns}
        iteration = np.repeat(np.arange(one.repeats), one.transfers)
        columns["step"] = columns["step"] + (iteration * one.period_rounds).astype(np.int32)
        columns["chunk"] = columns["chunk"] + (iteration * one.chunks).astype(np.int32)
        order = np.argsort(columns["step"], kind="stable")
        return replace(
            one,
            period=None,
            repeats=1,
            certificate=None,
            rounds=np.ones(one.total_steps, np.int32),
            chunk_root=np.tile(one.chunk_root, one.repeats),
            chunk_target=None if one.chunk_target is None else np.tile(one.chunk_target, one.repeats),
            **{name: column[order] for name, column in columns.items()},
        )
