"""Execution plans of MSCCL++."""

from dataclasses import replace

from certree.extras.runtimes.make.formats import RUNTIME_FORMATS, RuntimeFormat, Sizes
from certree.extras.runtimes.make.plans import lower_to_plan
from certree.extras.runtimes.model.plan_file import SUFFIX
from certree.extras.runtimes.model.plan_writer import written_plan
from certree.models.schedule.schedule import Schedule


def mscclpp(schedule: Schedule, sizes: Sizes | None) -> bytes:
    """One JSON plan for the executor of MSCCL++: copies into the buffers of other ranks, and signals, within its limits."""
    plan = lower_to_plan(schedule)
    return written_plan(plan if sizes is None else replace(plan, min_bytes=sizes[0], max_bytes=sizes[1]))


RUNTIME_FORMATS.register("mscclpp")(RuntimeFormat(SUFFIX, mscclpp))
