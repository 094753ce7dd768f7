"""The process that executes a module on devices: `python jax_child.py FOLDER`, with XLA_FLAGS set by the process that starts it.

The folder has `module.py`, `x.npy` and `task.json`; `y.npy` and `done.json` are written there. Where the task says "interpret", the
module is one of a Pallas kernel, which is interpreted. It imports nothing of certree.
"""

import json
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np


def main(folder: Path) -> None:
    """Compile, execute once to warm up, then as often as asked for, each run timed; likewise JAX's own all-reduce."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    task = json.loads((folder / "task.json").read_text())
    spec = spec_from_file_location("schedule_module", folder / "module.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, task["function"])
    values = np.load(folder / "x.npy")
    if task["type"] == "bfloat16":
        values = values.view(jax.numpy.bfloat16)
    mesh = Mesh(np.array(jax.devices()[: len(values)]), ("ranks",))
    where = PartitionSpec("ranks")
    x = jax.device_put(values, NamedSharding(mesh, where))

    def compiled(collective: Any) -> tuple[Any, int, float]:
        """(the collective on all devices, compiled; bytes of its StableHLO; seconds)."""
        mapped = jax.shard_map(lambda part: collective(part[0])[None], mesh=mesh, in_specs=where, out_specs=where, check_vma=False)
        start = time.perf_counter()
        lowered = jax.jit(mapped).lower(x)
        return lowered.compile(), len(lowered.as_text()), time.perf_counter() - start

    def timed(collective: Any) -> tuple[Any, list[float]]:
        """(the result, seconds of every run but the first)."""
        seconds, result = [], None
        for _ in range(task["iterations"] + 1):
            start = time.perf_counter()
            result = jax.block_until_ready(collective(x))
            seconds.append(time.perf_counter() - start)
        return result, seconds[1:]

    options: dict[str, Any] = {"op": task["operation"]}
    if task.get("interpret"):
        from jax.experimental.pallas import tpu

        options["interpret"] = tpu.InterpretParams()
    run, size, compile_seconds = compiled(lambda part: function(part, "ranks", **options))
    result, seconds = timed(run)
    own = None
    if task["own"]:
        reduced = {"sum": jax.lax.psum, "max": jax.lax.pmax, "min": jax.lax.pmin}[task["operation"]]
        own = timed(compiled(lambda part: reduced(part, "ranks"))[0])[1]
    found = np.asarray(result)
    np.save(folder / "y.npy", found.view(np.uint16) if task["type"] == "bfloat16" else found)
    done = {"seconds": seconds, "own_seconds": own, "stablehlo_bytes": size, "compile_seconds": compile_seconds}
    done |= {"jax": jax.__version__, "platform": jax.devices()[0].platform}
    (folder / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
