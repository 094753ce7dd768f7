"""Python modules for JAX."""

from certree.extras.runtimes.formats.program_format import ProgramFormat, Sizes, program_format
from certree.extras.xla.check.permute_checker import PermuteVerdict, verify_permutes
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.jax_module import MARK, MAX_BYTES, SUFFIX, read_module, written_module
from certree.extras.xla.model.permute_program import PermuteProgram
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import Opened
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule


@program_format("jax")
class JaxModule(ProgramFormat):
    """A Python module for JAX: the collective as a function for use inside shard_map, in permutes of JAX."""

    suffix = SUFFIX
    no_end = 1 << 50
    endings = (SUFFIX,)
    most_bytes = MAX_BYTES

    def matches(self, opened: Opened) -> bool:
        """Whether the first line is that of such a module."""
        return opened.start.startswith(MARK)

    def parse(self, file: Opened) -> PermuteProgram:
        """The program in a module, which is not executed."""
        return read_module(file.data(MAX_BYTES), str(file))

    def execute(
        self, program: PermuteProgram, collective: CollectiveKind | None, root: int | None, executor: str | None = None
    ) -> PermuteVerdict:
        """All steps are executed, with contributions instead of numbers; JAX has no limits."""
        if executor is not None:
            raise InputError(f"executor {executor} does not execute modules for JAX")
        if root not in (None, program.layout.root):
            raise InputError(f"root is {program.layout.root}, not {root}")
        return verify_permutes(program)

    def write(self, schedule: Schedule, sizes: Sizes | None) -> bytes:
        """A module with a loop of all iterations."""
        if sizes is not None:
            raise UnsupportedError("a module for JAX takes messages of every size; it has no smallest and no largest one")
        return written_module(lower_to_permutes(schedule))
