"""Execution plans of MSCCL++."""

from certree.hw.runtimes.formats import RUNTIME_FORMATS, RuntimeFormat
from certree.hw.runtimes.plans import lower_to_plan
from certree.models.programs.plan_file import SUFFIX, written_plan
from certree.models.schedule.schedule import Schedule


def mscclpp(schedule: Schedule) -> bytes:
    """One JSON plan for the executor of MSCCL++: copies into the buffers of other ranks, and signals, within its limits."""
    return written_plan(lower_to_plan(schedule))


RUNTIME_FORMATS.register("mscclpp")(RuntimeFormat(SUFFIX, mscclpp))
