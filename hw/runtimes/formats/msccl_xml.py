"""MSCCL's XML."""

from certree.hw.runtimes.formats import RUNTIME_FORMATS, RuntimeFormat
from certree.hw.runtimes.lowering import lower_to_program
from certree.models.programs.msccl import SUFFIX, written_msccl
from certree.models.schedule.schedule import Schedule


def msccl_xml(schedule: Schedule) -> bytes:
    """One XML file for the executor of MSCCL: thread blocks that send and receive chunks, within its limits."""
    return written_msccl(lower_to_program(schedule))


RUNTIME_FORMATS.register("msccl-xml")(RuntimeFormat(SUFFIX, msccl_xml))
