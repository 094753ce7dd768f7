"""Kernel plans as files."""

from certree.api.reports.text import size_words
from certree.extras.pallas.check.kernel_checker import KernelVerdict, verify_kernel
from certree.extras.pallas.make.kernel_plans import plan_of_schedule
from certree.extras.pallas.model.kernel_module import MARK, VMEM_BYTES, read_module, vmem_bytes, written_module
from certree.extras.pallas.model.kernel_module import SUFFIX as MODULE_SUFFIX
from certree.extras.pallas.model.kernel_plan import KernelPlan
from certree.extras.pallas.model.kernel_plan_file import FORMAT, MAX_BYTES, SUFFIX, plan_of, written_plan
from certree.extras.runtimes.formats.program_format import ProgramFormat, Sizes, program_format
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import Opened, parse_json
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule


class KernelFormat(ProgramFormat):
    """The common part of formats of kernel plans."""

    most_bytes = MAX_BYTES
    no_end = 1 << 50

    def execute(
        self, program: KernelPlan, collective: CollectiveKind | None, root: int | None, executor: str | None = None
    ) -> KernelVerdict:
        """All runs, with contributions instead of numbers; executors are not asked."""
        if executor is not None:
            raise InputError(f"executor {executor} does not execute kernels of Pallas")
        if root not in (None, program.layout.root):
            raise InputError(f"root is {program.layout.root}, not {root}")
        return verify_kernel(program)


@program_format("pallas-plan")
class KernelPlanFile(KernelFormat):
    """The plan of a kernel with remote DMAs, as Pallas has them on TPUs: JSON with an operation of a device on each line."""

    suffix = SUFFIX
    format = FORMAT

    def parse(self, file: Opened) -> KernelPlan:
        """The plan. InputError, with the line, for an operation that no kernel can have."""
        data = file.data(MAX_BYTES)
        return plan_of(parse_json(data, str(file)), data.decode(errors="replace"), str(file))

    def write(self, schedule: Schedule, sizes: Sizes | None) -> bytes:
        """The plan of one iteration."""
        if sizes is not None:
            raise UnsupportedError("a kernel takes messages of every size; it has no smallest and no largest one")
        return written_plan(plan_of_schedule(schedule))


@program_format("pallas")
class KernelModule(KernelFormat):
    """A Python module for Pallas on TPUs: the collective as one kernel with remote DMAs, for use inside shard_map."""

    suffix = MODULE_SUFFIX
    endings = (MODULE_SUFFIX,)

    def matches(self, opened: Opened) -> bool:
        """Whether the first line is that of such a module."""
        return opened.start.startswith(MARK)

    def parse(self, file: Opened) -> KernelPlan:
        """The plan in a module, which is not executed."""
        return read_module(file.data(MAX_BYTES), str(file))

    def write(self, schedule: Schedule, sizes: Sizes | None) -> bytes:
        """A module with a call for each iteration. UnsupportedError for a schedule of messages that do not fit."""
        if sizes is not None:
            raise UnsupportedError("a kernel takes messages of every size; it has no smallest and no largest one")
        plan = plan_of_schedule(schedule)
        _require_room(plan, schedule)
        return written_module(plan)


def _require_room(plan: KernelPlan, schedule: Schedule) -> None:
    """Raise UnsupportedError where the message that a schedule was made for does not fit in the vector memory of a device, as
    float32."""
    if schedule.made_for is None:
        return
    size = schedule.made_for.message_bytes
    used = vmem_bytes(plan, -(-size // (schedule.message_chunks * plan.repeats)))
    if used > VMEM_BYTES:
        raise UnsupportedError(
            f"a kernel for {size_words(size)} takes {used:,} bytes of vector memory; allowed: up to {VMEM_BYTES:,}; modules for JAX"
            " (--format jax) take any size"
        )
