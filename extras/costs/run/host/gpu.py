"""Benchmark of adding up several vectors at once on a GPU, through CuPy or PyTorch, whichever is installed and finds one."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from certree.api.reports.text import one_line
from certree.extras.costs.run.host.addition import timed_runs
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
    """The first GPU on which a library of LIBRARIES adds two vectors, tried in this order; None if there is none."""
    return _search()[0]


def require_gpu() -> Gpu:
    """`find_gpu`; InputError without one, with what each library says."""
    found, reasons = _search()
    if found is None:
        raise InputError(f"device gpu: no GPU was found ({'; '.join(reasons)}); allowed here: auto, cpu")
    return found


def _search() -> tuple[Gpu | None, list[str]]:
    reasons = []
    for library, describe in zip(LIBRARIES, (_of_cupy, _of_torch), strict=True):
        try:
            found = describe(importlib.import_module(library))
            if found is not None:
                _timed(found, 2, 2, 1)
                return found, []
            reasons.append(f"{library} finds none")
        except ImportError:
            reasons.append(f"{library} is not installed")
        except Exception as error:  # without a driver, or with one that does not fit: each library has error classes of its own
            reasons.append(f"{library}: {one_line(str(error))}")
    return None, reasons


def time_additions(gpu: Gpu, vectors: int, floats: int, repetitions: int) -> list[float]:
    """Seconds of each of the timed runs, from the call to the end on the GPU, after one warm-up run. Memory of the GPU:
    (vectors + 1) · floats · 4 bytes."""
    try:
        return _timed(gpu, vectors, floats, repetitions)
    except CertreeError:
        raise
    except Exception as error:  # of the library, such as too little memory
        raise InputError(f"{vectors} vectors of {floats:,} floats on {gpu.name}: {one_line(str(error))}") from None


def _timed(gpu: Gpu, vectors: int, floats: int, repetitions: int) -> list[float]:
    data = gpu.upload(np.arange(1, vectors + 1, dtype=np.float32)[:, None].repeat(floats, axis=1))
    total = gpu.upload(np.zeros(floats, np.float32))

    def run() -> None:
        gpu.add(data, total)
        gpu.wait()

    seconds = timed_runs(run, repetitions)
    if not (gpu.download(total) == vectors * (vectors + 1) // 2).all():
        raise CertreeError(f"the benchmark of additions on {gpu.name} ended with a wrong sum")
    return seconds


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
