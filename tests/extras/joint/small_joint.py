"""A small joint schedule, made once, and documents of it that tests change."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import certree.api as ct
from certree.extras.joint.check.joint_checks import JointVerdict, verify_joint
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_file import joint_document, joint_from_document
from certree.extras.joint.model.joint_schedule import JointSchedule

TEXT = """
[[collective]]
name = "sum"
kind = "all-reduce"
members = "0-2"
size = "2KiB"

[[collective]]
name = "blocks"
kind = "all-to-all"
size = 4096
start = "100ns"
weight = 3

[[collective]]
name = "copies"
kind = "broadcast"
root = 3
members = [0, 3]
size = "1KiB"
after = ["sum"]

[[collective]]
name = "more"
kind = "reduce"
root = 0
size = "2KiB"
"""


@cache
def small() -> JointSchedule:
    """Four collectives on a ring of four."""
    return joint("ring:4", entries())


def entries() -> list[Entry]:
    """The entries of TEXT."""
    of = ct.collective
    return [
        Entry("sum", of("all-reduce", members=[0, 1, 2]), 2048),
        Entry("blocks", of("all-to-all"), 4096, start=100, weight=3),
        Entry("copies", of("broadcast", 3, members=[0, 3]), 1024, after=("sum",)),
        Entry("more", of("reduce", 0), 2048),
    ]


def document() -> Any:
    """The document of `small`, to be changed."""
    return deepcopy(joint_document(small()))


def verdict_on(change: Callable[[Any], None]) -> JointVerdict:
    """The verdict on the document with a change."""
    changed = document()
    change(changed)
    return verify_joint(joint_from_document(changed, "joint.json"))


def written(folder: Path) -> Path:
    """TEXT in a file."""
    path = folder / "w.toml"
    path.write_text(TEXT)
    return path
