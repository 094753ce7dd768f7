"""Lowering of a schedule to StableHLO: the module for JAX, lowered by JAX in a process of its own, for devices that need not be
there."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.child_process import OvertimeError, cpu_environment, last_line, run_script
from certree.extras.xla.model.hlo_reader import require_jaxlib
from certree.extras.xla.model.jax_module import written_module
from certree.extras.xla.model.permute_program import PermuteProgram
from certree.extras.xla.model.template_module import collective_name, function_name
from certree.models.common.errors import UnsupportedError, short
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule

ITEM_BYTES = 4  # of float32
SECONDS = 600  # of the process
_BLOCKS = (CollectiveKind.REDUCE_SCATTER, CollectiveKind.SCATTER, CollectiveKind.ALL_TO_ALL)


def lowered_module(schedule: Schedule, message_bytes: int) -> bytes:
    """The text of a module that computes the collective of a schedule on float32, for a message of some bytes, padded to whole
    elements in every chunk. The same schedule and size give the same bytes, with one version of JAX. UnsupportedError as
    `lower_to_permutes`, and where JAX refuses; ToolMissingError where JAX is not installed."""
    require_jaxlib()
    program = lower_to_permutes(schedule)
    unit = -(-message_bytes // (schedule.message_chunks * schedule.repeats * ITEM_BYTES))
    name = function_name(collective_name(program.layout))
    task = {"function": name, "ranks": program.ranks, "shape": input_shape(program, unit), "type": "float32"}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "module.py").write_bytes(written_module(program))
        (folder / "task.json").write_text(json.dumps(task))
        if (fault := _lower(folder)) is not None:
            raise UnsupportedError(f"as StableHLO: JAX does not lower it: {short(fault)}")
        text = (folder / "module.mlir").read_bytes()
    return f"// Written by `certree export --format stablehlo` for: {program.about}\n".encode() + text


def _lower(folder: Path) -> str | None:
    """Run the process; what it says where it fails."""
    # what is set for JAX, such as 64-bit numbers, would change the text
    try:
        done = run_script("certree.extras.xla.make:lowering_child.py", folder, SECONDS, cpu_environment("JAX_"))
    except OvertimeError:
        return f"it takes more than {SECONDS} s"
    if done.returncode == 0 and (folder / "module.mlir").exists():
        return None
    return last_line(done) or f"its process ended with code {done.returncode}"


def input_shape(program: PermuteProgram, unit: int) -> list[int]:
    """The shape of what each device gives, with `unit` elements of each chunk of one iteration."""
    layout = program.layout
    rows, each = max(layout.sizes(rank)[0] for rank in range(program.ranks)), program.repeats * unit
    if layout.roles.blocks:
        return [rows, each]
    if layout.kind in _BLOCKS:
        return [len(layout.members), rows // len(layout.members) * each]
    return [rows * each]
