"""StableHLO modules."""

import re

from certree.extras.runtimes.formats.program_format import ProgramFormat, program_format
from certree.extras.xla.check.hlo_checker import HloVerdict, verify_hlo
from certree.extras.xla.make.lowered import lowered_module
from certree.extras.xla.model.hlo import HloModule
from certree.extras.xla.model.hlo_child import BYTECODE
from certree.extras.xla.model.hlo_reader import read_hlo
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule

_TEXT = re.compile(rb"(?:\s|//[^\n]*\n|#[^\n]*\n)*module\b")


@program_format("stablehlo")
class StableHlo(ProgramFormat):
    """A StableHLO module, as JAX lowers a program: the collective of all devices of a mesh, in collective_permutes."""

    suffix = ".mlir"
    has_one_size = True
    endings = (".mlir", ".mlirbc")
    most_bytes = 1 << 28

    def matches(self, opened: Opened) -> bool:
        """Whether a file begins as a module of MLIR does, in text or in bytecode."""
        return opened.start.startswith(BYTECODE) or _TEXT.match(opened.start) is not None

    def parse(self, file: Opened) -> HloModule:
        """The module, read with the parser of jaxlib."""
        return read_hlo(file.data(self.most_bytes), str(file))

    def execute(
        self, program: HloModule, collective: CollectiveKind | None, root: int | None, executor: str | None = None
    ) -> HloVerdict:
        """All devices are executed at once, with events in place of data; JAX has no limits."""
        if executor is not None:
            raise InputError(f"executor {executor} does not execute StableHLO")
        return verify_hlo(program, collective, root)

    def write_for(self, schedule: Schedule, message_bytes: int) -> bytes:
        """The lowering by JAX of the module for JAX, for a message of N bytes of float32."""
        return lowered_module(schedule, message_bytes)
