"""Chakra traces of a collective, with ASTRA-sim's configuration."""

from certree.extras.runtimes.check.algorithm_checker import AlgorithmVerdict, verify_algorithm
from certree.extras.runtimes.formats.program_format import ProgramFormat, program_format
from certree.extras.runtimes.make.algorithms import lower_to_algorithm, simulator_files
from certree.extras.runtimes.model.algorithm import Algorithm, read_algorithm, written_algorithm
from certree.extras.runtimes.model.chakra import SUFFIX
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule


@program_format("chakra")
class ChakraTraces(ProgramFormat):
    """A folder of Chakra traces, one for each rank, and the system, network and workload files with which ASTRA-sim runs them."""

    suffix = ""

    def matches(self, opened: Opened) -> bool:
        """Whether the names of the files are those of traces."""
        if opened.is_folder:
            return any(opened.path.glob(f"*.0{SUFFIX}"))
        return opened.path.suffix.lower() == SUFFIX  # NAME.et stands for NAME.RANK.et of all ranks

    def read(self, opened: Opened) -> Algorithm:
        """The traces of all ranks: a folder, or NAME.et for the files NAME.RANK.et."""
        return read_algorithm(opened.path)

    def execute(
        self, program: Algorithm, collective: CollectiveKind | None, root: int | None, executor: str | None = None
    ) -> AlgorithmVerdict:
        """The nodes of all ranks are executed; ASTRA-sim has no limits."""
        if executor is not None:
            raise InputError(f"executor {executor} does not execute Chakra traces")
        return verify_algorithm(program, collective, root)

    def write_folder(self, schedule: Schedule, message_bytes: int, machine: Machine, path: str) -> dict[str, bytes]:
        """The files of all iterations, for one size of message."""
        return {
            **written_algorithm(lower_to_algorithm(schedule, message_bytes)),
            **simulator_files(schedule, message_bytes, machine, path),
        }
