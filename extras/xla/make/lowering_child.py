"""The process that lowers a module for JAX: `python lowering_child.py FOLDER`.

The folder has `module.py` and `task.json`; `module.mlir` is written there. It imports nothing of certree, and needs no device.
"""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def main(folder: Path) -> None:
    """Lower the function of a written module for the devices of an abstract mesh with one axis (`shard_map`)."""
    import jax
    from jax.sharding import AbstractMesh, PartitionSpec

    task = json.loads((folder / "task.json").read_text())
    spec = spec_from_file_location("schedule_module", folder / "module.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, task["function"])
    mesh, where = AbstractMesh((task["ranks"],), ("ranks",)), PartitionSpec("ranks")

    def collective(part):  # type: ignore[no-untyped-def]
        return function(part[0], "ranks")[None]

    mapped = jax.shard_map(collective, mesh=mesh, in_specs=where, out_specs=where, check_vma=False)
    x = jax.ShapeDtypeStruct((task["ranks"], *task["shape"]), task["type"])
    lowered = jax.jit(mapped).trace(x).lower(lowering_platforms=("cpu",))
    (folder / "module.mlir").write_text(lowered.as_text() + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
