"""Sizes of modules for JAX and of their programs for a long message: every method that makes an all-reduce of 1 GiB on `torus:8x8`,
on 64 devices.

Lines of docs/benchmarks/jax.md, which `python -m tools.tables.jax_devices` writes. Each method has a process of its own.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import certree.api as ct
from certree.cli.words.terminal import note
from certree.extras.xla.make.lowered import ITEM_BYTES, input_shape
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.run.modules import function_of, module_of
from certree.models.common.errors import CertreeError
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from tools.tables.matrix import methods

NETWORK, DEVICES, MESSAGE = "torus:8x8", 64, 1 << 30
SECONDS = 240  # of CPU time of a method, with all that follows
#: what a module may become: bytes of StableHLO, and seconds of CPU time in which it is compiled
MOST_BYTES, MOST_SECONDS = 2_000_000, 60


@dataclass(frozen=True)
class Module:
    """The size of one iteration of a module, and of the program that the module becomes."""

    iterations: int
    steps: int
    permutes: int
    rows: int
    stablehlo_bytes: int
    cpu_seconds: float

    def cells(self) -> str:
        """The cells of its line."""
        counts = f"{self.iterations:,} | {self.steps:,} | {self.permutes:,} | {self.rows:,}"
        return f"{counts} | {self.stablehlo_bytes / 1e6:.2f} MB | {self.cpu_seconds:.1f} s"


def module_of_method(name: str) -> Module | str:
    """The module of a method, or why there is none."""
    flags = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tools.tables.jax_methods", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | flags)
    if done.returncode < 0:
        return f"not made within {SECONDS} s of CPU time"
    if done.returncode:
        raise AssertionError(f"{name}: {done.stderr}")
    found = json.loads(done.stdout)
    return found["reason"] if "reason" in found else Module(**found)


def method_lines() -> Iterator[str]:
    """The table, and the methods that have no line."""
    yield "| method | iterations | steps | permutes | rows sent | StableHLO | compiled in |"
    yield "|---|---|---|---|---|---|---|"
    late = []
    for name in methods():
        found = module_of_method(name)
        note(f"{name}: {found}")
        if isinstance(found, Module):
            if found.stablehlo_bytes > MOST_BYTES or found.cpu_seconds > MOST_SECONDS:
                raise AssertionError(f"{name}: {found}")
            yield f"| {name} | {found.cells()} |"
        elif found.startswith("not made within"):
            late.append(name)
    if late:
        yield ""
        yield f"Not made within {SECONDS} s of CPU time: {', '.join(late)}."


def _made(name: str) -> dict[str, object]:
    """The document of a method: a module, or a reason."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    try:
        schedule = written_out(ct.synthesize(NETWORK, method=name, size=MESSAGE))
        program = lower_to_permutes(schedule)
    except CertreeError as error:
        return {"reason": str(error)}
    made, where = module_of(schedule), PartitionSpec("ranks")
    mesh = Mesh(jax.devices()[:DEVICES], ("ranks",))
    shape = input_shape(program, -(-MESSAGE // (schedule.message_chunks * schedule.repeats * ITEM_BYTES)))
    mapped = jax.shard_map(
        lambda part: function_of(made)(part[0], "ranks")[None], mesh=mesh, in_specs=where, out_specs=where, check_vma=False
    )
    x = jax.ShapeDtypeStruct((DEVICES, *shape), "float32", sharding=NamedSharding(mesh, where))
    start = time.process_time()
    lowered = jax.jit(mapped).lower(x)
    lowered.compile()
    seconds = time.process_time() - start
    counts = (program.repeats, program.steps, program.permutes, program.rows_sent)
    return asdict(Module(*counts, len(lowered.as_text()), seconds))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    print(json.dumps(_made(sys.argv[1])))
