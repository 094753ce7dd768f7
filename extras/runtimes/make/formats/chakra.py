"""Chakra traces of a collective, with ASTRA-sim's configuration."""

from certree.extras.runtimes.make.algorithms import lower_to_algorithm, simulator_files
from certree.extras.runtimes.make.formats import RUNTIME_FORMATS, RuntimeFormat
from certree.extras.runtimes.model.algorithm import written_algorithm
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule


def chakra(schedule: Schedule, message_bytes: int, machine: Machine, path: str) -> dict[str, bytes]:
    """A folder of Chakra traces, one for each rank, and the system, network and workload files with which ASTRA-sim runs them."""
    return {
        **written_algorithm(lower_to_algorithm(schedule, message_bytes)),
        **simulator_files(schedule, message_bytes, machine, path),
    }


RUNTIME_FORMATS.register("chakra")(RuntimeFormat("", write_folder=chakra))
