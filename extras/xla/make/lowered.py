"""From a schedule to StableHLO: the module for JAX, lowered by JAX in a process of its own, for devices that need not be there."""

import json
import os
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.hlo_reader import require_jaxlib
from certree.extras.xla.model.jax_module import collective_name, function_name, written_module
from certree.extras.xla.model.permute_program import PermuteProgram
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
        with as_file(files("certree.extras.xla.make") / "lowering_child.py") as child:
            command = [sys.executable, "-I", str(child), str(folder)]
            done = _run(command, folder)
        if done is not None:
            raise UnsupportedError(f"as StableHLO: JAX does not lower it: {short(done)}")
        text = (folder / "module.mlir").read_bytes()
    return f"// Written by `certree export --format stablehlo` for: {program.about}\n".encode() + text


def _run(command: list[str], folder: Path) -> str | None:
    """Run the process; what it says where it fails."""
    # what is set for JAX, such as 64-bit numbers, would change the text
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")} | {"JAX_PLATFORMS": "cpu"}
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=SECONDS, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        return f"it takes more than {SECONDS} s"
    if done.returncode == 0 and (folder / "module.mlir").exists():
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"its process ended with code {done.returncode}"


def input_shape(program: PermuteProgram, unit: int) -> list[int]:
    """The shape of what each device gives, with `unit` elements of each chunk of one iteration."""
    layout = program.layout
    rows, each = max(layout.sizes(rank)[0] for rank in range(program.ranks)), program.repeats * unit
    if layout.roles.blocks:
        return [rows, each]
    if layout.kind in _BLOCKS:
        return [len(layout.members), rows // len(layout.members) * each]
    return [rows * each]
