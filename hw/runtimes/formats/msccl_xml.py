"""MSCCL's XML."""

from certree.hw.runtimes.formats import RUNTIME_FORMATS
from certree.hw.runtimes.lowering import lower_to_program
from certree.models.programs.msccl import written_msccl
from certree.models.programs.program import Program
from certree.models.schedule.schedule import Schedule


@RUNTIME_FORMATS.register("msccl-xml")
def msccl_xml(schedule: Schedule) -> tuple[Program, bytes]:
    """One XML file for the executor of MSCCL: thread blocks that send and receive chunks, within its limits."""
    program = lower_to_program(schedule)
    return program, written_msccl(program)
