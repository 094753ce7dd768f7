"""MSCCL's XML."""

from dataclasses import replace

from certree.extras.runtimes.make.formats import RUNTIME_FORMATS, RuntimeFormat, Sizes
from certree.extras.runtimes.make.lowering import lower_to_program
from certree.extras.runtimes.model.msccl import SUFFIX, written_msccl
from certree.models.schedule.schedule import Schedule


def msccl_xml(schedule: Schedule, sizes: Sizes | None) -> bytes:
    """One XML file for the executor of MSCCL: thread blocks that send and receive chunks, within its limits."""
    smallest, largest = sizes or (0, 0)
    return written_msccl(replace(lower_to_program(schedule), min_bytes=smallest, max_bytes=largest))


RUNTIME_FORMATS.register("msccl-xml")(RuntimeFormat(SUFFIX, msccl_xml))
