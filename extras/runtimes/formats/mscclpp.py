"""Execution plans of MSCCL++."""

from dataclasses import replace

from certree.extras.runtimes.check.plan_checker import PlanVerdict, verify_plan
from certree.extras.runtimes.formats.program_format import ProgramFormat, Sizes, program_format
from certree.extras.runtimes.make.plans import lower_to_plan
from certree.extras.runtimes.model.limits import PLAN_EXECUTOR
from certree.extras.runtimes.model.plan import Plan
from certree.extras.runtimes.model.plan_file import MAX_BYTES, MAX_MESSAGE, SUFFIX, is_plan, plan_of
from certree.extras.runtimes.model.plan_writer import written_plan
from certree.models.common.files import Opened
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule


@program_format("mscclpp")
class MscclppPlan(ProgramFormat):
    """One JSON plan for the executor of MSCCL++: copies into the buffers of other ranks, and signals, within its limits."""

    suffix = SUFFIX
    no_end = MAX_MESSAGE
    most_bytes = MAX_BYTES
    executor = PLAN_EXECUTOR

    def matches(self, opened: Opened) -> bool:
        """Whether the keys are those of a plan."""
        return opened.format is None and is_plan(opened.start)

    def parse(self, file: Opened) -> Plan:
        """The plan in a JSON file."""
        return plan_of(file.document(), str(file))

    def execute(
        self, program: Plan, collective: CollectiveKind | None, root: int | None, executor: str | None = None
    ) -> PlanVerdict:
        """The verdict on an execution of all operations of all ranks."""
        return verify_plan(program, root, executor)

    def write(self, schedule: Schedule, sizes: Sizes | None) -> bytes:
        """A plan with a loop of all iterations."""
        plan = lower_to_plan(schedule)
        return written_plan(plan if sizes is None else replace(plan, min_bytes=sizes[0], max_bytes=sizes[1]))
