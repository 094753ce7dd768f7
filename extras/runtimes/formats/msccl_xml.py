"""MSCCL's XML."""

from dataclasses import replace

from certree.extras.runtimes.check.checker import ProgramVerdict, verify_program
from certree.extras.runtimes.formats.program_format import ProgramFormat, Sizes, program_format
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.model.msccl import MAX_BYTES, MAX_MESSAGE, SUFFIX, read_msccl, written_msccl
from certree.extras.runtimes.model.program import Program
from certree.models.common.files import Opened
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule


@program_format("msccl-xml")
class MscclXml(ProgramFormat):
    """One XML file for the executor of MSCCL: thread blocks that send and receive chunks, within its limits."""

    suffix = SUFFIX
    no_end = MAX_MESSAGE
    most_bytes = MAX_BYTES
    endings = (SUFFIX,)
    executor = "rccl"

    def matches(self, opened: Opened) -> bool:
        """Whether the root element is `algo`."""
        return b"<algo" in opened.start

    def parse(self, file: Opened) -> Program:
        """The program in an XML file."""
        return read_msccl(file.data(), str(file))

    def execute(
        self, program: Program, collective: CollectiveKind | None, root: int | None, executor: str | None = None
    ) -> ProgramVerdict:
        """The verdict on an execution of all thread blocks of all ranks."""
        return verify_program(program, root, executor)

    def write(self, schedule: Schedule, sizes: Sizes | None) -> bytes:
        """One iteration of the schedule."""
        smallest, largest = sizes or (0, 0)
        return written_msccl(replace(lower_to_program(schedule), min_bytes=smallest, max_bytes=largest))
