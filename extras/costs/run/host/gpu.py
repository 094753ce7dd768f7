"""Benchmark of adding up several vectors at once on a GPU, through CuPy or PyTorch, whichever is installed and finds one."""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from certree.models.common.errors import CertreeError, InputError

LIBRARIES = ("cupy", "torch")


@dataclass(frozen=True)
class Gpu:
    """A GPU: its `name`, and from its library how to put vectors there (`upload`), add them into a total (`add`), wait for it
    (`wait`) and read an array back (`download`)."""

    name: str
    upload: Callable[[Any], Any]
    add: Callable[[Any, Any], None]
    wait: Callable[[], None]
    download: Callable[[Any], Any]


def find_gpu() -> Gpu | None:
    """The first GPU of the first of LIBRARIES that is installed and finds one; None without one."""
    for library, describe in zip(LIBRARIES, (_of_cupy, _of_torch), strict=True):
        try:
            found = describe(importlib.import_module(library))
        except Exception:  # not installed, or without a driver, which each library says with an error class of its own
            continue
        if found is not None:
            return found
    return None


def require_gpu() -> Gpu:
    """`find_gpu`; InputError without one."""
    found = find_gpu()
    if found is None:
        raise InputError(f"device gpu: neither {' nor '.join(LIBRARIES)} is installed and finds a GPU; allowed here: auto, cpu")
    return found


def time_additions(gpu: Gpu, vectors: int, floats: int, repetitions: int) -> list[float]:
    """Seconds of each of the timed runs, from the call to the end on the GPU, after one warm-up run. Memory of the GPU:
    (vectors + 1) · floats · 4 bytes."""
    data = gpu.upload(np.arange(1, vectors + 1, dtype=np.float32)[:, None].repeat(floats, axis=1))
    total = gpu.upload(np.zeros(floats, np.float32))
    seconds = []
    for _ in range(repetitions + 1):
        gpu.wait()
        start = time.perf_counter()
        gpu.add(data, total)
        gpu.wait()
        seconds.append(time.perf_counter() - start)
    if not (gpu.download(total) == vectors * (vectors + 1) // 2).all():
        raise CertreeError(f"the benchmark of additions on {gpu.name} ended with a wrong sum")
    return seconds[1:]


def _of_cupy(cupy: Any) -> Gpu | None:
    if not cupy.cuda.runtime.getDeviceCount():
        return None
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    name = name.decode() if isinstance(name, bytes) else str(name)
    wait = cupy.cuda.Stream.null.synchronize
    return Gpu(
        f"{name} (cupy {cupy.__version__})", cupy.asarray, lambda data, total: cupy.sum(data, axis=0, out=total), wait, cupy.asnumpy
    )


def _of_torch(torch: Any) -> Gpu | None:
    if not torch.cuda.is_available():
        return None
    return Gpu(
        f"{torch.cuda.get_device_name(0)} (torch {torch.__version__})",
        lambda array: torch.as_tensor(array, device="cuda"),
        lambda data, total: torch.sum(data, dim=0, out=total),
        torch.cuda.synchronize,
        lambda array: array.cpu().numpy(),
    )
