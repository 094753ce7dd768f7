"""The kinds of programs that are read: how each is recognized, read and verified."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.files import first_bytes, read_bytes
from certree.models.programs import algorithm, chakra, msccl, plan_file
from certree.models.schedule.collective import CollectiveKind
from certree.verify.programs.algorithm_checker import AlgorithmVerdict, verify_algorithm
from certree.verify.programs.checker import ProgramVerdict
from certree.verify.programs.checker import verify_program as verify_blocks
from certree.verify.programs.plan_checker import PlanVerdict, verify_plan

#: the verdict on a program of any kind
AnyVerdict = ProgramVerdict | PlanVerdict | AlgorithmVerdict

_START = 1 << 12  # bytes of a file that show its kind


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


def kind_of(path: Path) -> ProgramKind | None:
    """The kind of a file or folder, by its name and its first bytes; None for anything but a program."""
    if path.is_dir():
        return TRACES if any(path.glob(f"*.0{chakra.SUFFIX}")) else None
    if path.suffix.lower() == chakra.SUFFIX:
        return TRACES
    if path.suffix.lower() == msccl.SUFFIX:
        return XML
    if path.suffix.lower() == plan_file.SUFFIX and plan_file.is_plan(first_bytes(path, _START)):
        return PLAN
    return None


def read_any(path: Path) -> tuple[ProgramKind, Any]:
    """The program in a file or folder, and its kind. InputError, one line, for a path that has no program."""
    kind = kind_of(path)
    if kind is None:
        raise InputError(f"{path}: no program: neither MSCCL XML (.xml), a plan of MSCCL++ (.json) nor Chakra traces (.et)")
    return kind, kind.read(path)
