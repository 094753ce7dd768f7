"""The kinds of programs that are read: how each is recognized, read and verified."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.files import first_bytes, read_bytes
from certree.models.programs import msccl, plan_file
from certree.verify.programs.checker import ProgramVerdict
from certree.verify.programs.checker import verify_program as verify_blocks
from certree.verify.programs.plan_checker import PlanVerdict, verify_plan

#: the verdict on a program of any kind
AnyVerdict = ProgramVerdict | PlanVerdict

_START = 1 << 12  # bytes of a file that show its kind


@dataclass(frozen=True)
class ProgramKind:
    """`name`: as of the format of `certree export`. `read`: (data, where) to a program; `verify`: (program, root) to a verdict."""

    name: str
    most_bytes: int
    read: Callable[[bytes, str], Any]
    verify: Callable[[Any, int | None], AnyVerdict]


XML = ProgramKind("msccl-xml", msccl.MAX_BYTES, msccl.read_msccl, verify_blocks)
PLAN = ProgramKind("mscclpp", plan_file.MAX_BYTES, plan_file.read_plan, verify_plan)
KINDS = {kind.name: kind for kind in (XML, PLAN)}


def kind_of(path: Path) -> ProgramKind | None:
    """The kind of a file, by its name and its first bytes; None for anything but a program."""
    if path.suffix.lower() == msccl.SUFFIX:
        return XML
    if path.suffix.lower() == plan_file.SUFFIX and plan_file.is_plan(first_bytes(path, _START)):
        return PLAN
    return None


def read_any(path: Path) -> tuple[ProgramKind, Any]:
    """The program in a file, and its kind. InputError, one line, for what is none."""
    kind = kind_of(path)
    if kind is None:
        raise InputError(f"{path}: no program: neither MSCCL XML (.xml) nor a plan of MSCCL++ (.json)")
    if path.is_file() and path.stat().st_size > kind.most_bytes:
        raise InputError(f"{path}: {path.stat().st_size} bytes; allowed: up to {kind.most_bytes}")
    return kind, kind.read(read_bytes(path), str(path))
