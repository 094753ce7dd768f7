"""The kinds of programs that are read: how each is read and verified."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.extras.runtimes.check.algorithm_checker import AlgorithmVerdict, verify_algorithm
from certree.extras.runtimes.check.checker import ProgramVerdict
from certree.extras.runtimes.check.checker import verify_program as verify_blocks
from certree.extras.runtimes.check.plan_checker import PlanVerdict, verify_plan
from certree.extras.runtimes.model import algorithm, msccl, plan_file
from certree.models.common.errors import InputError
from certree.models.common.files import read_bytes
from certree.models.schedule.collective import CollectiveKind

#: the verdict on a program of any kind
AnyVerdict = ProgramVerdict | PlanVerdict | AlgorithmVerdict


@dataclass(frozen=True)
class ProgramKind:
    """`name`: as of the format of `certree export`. `read`: a path to a program; `verify`: (program, collective where one is given,
    root) to its verdict."""

    name: str
    read: Callable[[Path], Any]
    verify: Callable[[Any, CollectiveKind | None, int | None], AnyVerdict]


def _file(read: Callable[[bytes, str], Any], most_bytes: int) -> Callable[[Path], Any]:
    def read_file(path: Path) -> Any:
        if path.is_file() and path.stat().st_size > most_bytes:
            raise InputError(f"{path}: {path.stat().st_size} bytes; allowed: up to {most_bytes}")
        return read(read_bytes(path), str(path))

    return read_file


XML = ProgramKind("msccl-xml", _file(msccl.read_msccl, msccl.MAX_BYTES), lambda program, _, root: verify_blocks(program, root))
PLAN = ProgramKind("mscclpp", _file(plan_file.read_plan, plan_file.MAX_BYTES), lambda plan, _, root: verify_plan(plan, root))
TRACES = ProgramKind("chakra", algorithm.read_algorithm, verify_algorithm)
KINDS = {kind.name: kind for kind in (XML, PLAN, TRACES)}
