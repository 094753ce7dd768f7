"""Programs with one wrong line, executed by XLA: `python -m tests.extras.xla.faults.on_xla NAME` counts them by verdict.

XLA_FLAGS must ask for 8 devices before this process starts. Verdicts are: wrong, the same collective, another one, and refused; of
each there are those that give the results of the program as it is, and those that do not, or that XLA does not compile.
"""

import json
import re
import sys
from collections import Counter

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import xla_client
from jaxlib.mlir import ir

from certree.extras.xla.model.hlo_child import context
from certree.models.common.errors import InputError
from tests.extras.xla.test_stablehlo import checked, mutants, text_of

DEVICES = 8


def results(text: str) -> list[bytes] | None:
    """What the devices return, for numbers of both signs; None where XLA does not compile the program."""
    devices = jax.devices()[:DEVICES]
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = DEVICES
    options.num_replicas = build.num_replicas = 1
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(DEVICES).reshape(1, DEVICES))
    given = re.search(r"public @main\(%\w+: tensor<([0-9x]+)xf32>", text)
    assert given is not None
    numbers = np.random.default_rng(1).integers(-99, 99, [int(size) for size in given[1].split("x")]).astype(np.float32)
    where = NamedSharding(Mesh(np.array(devices), ("d",)), PartitionSpec("d"))
    with context():
        try:
            module = ir.Module.parse(text)
            run = devices[0].client.compile_and_load(module, xla_client.DeviceList(tuple(devices)), options)
        except Exception as error:  # XLA has errors of several kinds, of which none is a base of the others
            sys.stderr.write(f"{str(error).splitlines()[:1]}\n")
            return None
    found = run.execute_sharded([jax.device_put(numbers, where)]).disassemble_into_single_device_arrays()
    return [np.asarray(part).tobytes() for part in found[0]]


def verdict(text: str, right: object) -> str:
    """What is said of a program; `right`: the layout of the one without a wrong line."""
    try:
        found = checked(text)
    except InputError:
        return "refused"
    return "wrong" if not found.valid else "same" if found.layout == right else "other"


def main(name: str) -> None:
    """Count the wrong lines of a program."""
    text = text_of(name)
    expected, right = results(text), checked(text).layout
    counts = Counter[str]()
    for _, _, changed in mutants(text):
        counts[f"{verdict(changed, right)}, {'equal' if results(changed) == expected else 'other'} results"] += 1
    sys.stdout.write(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1])
