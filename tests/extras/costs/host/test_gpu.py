"""Additions on a GPU, with numpy in place of CuPy and PyTorch: no GPU is needed, and none was used."""

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import certree.api as ct
from certree.extras.costs.model.fitting.measurements import Measurement, measurements_csv, merged, read_measurements
from certree.extras.costs.run.host.gpu import find_gpu, time_additions
from certree.models.common.errors import CertreeError, InputError
from tests.cli.running import assert_bad_input, certree


def module(name: str, **contents: object) -> ModuleType:
    """A module of that name with these contents."""
    made = ModuleType(name)
    vars(made).update(contents, __version__="1.0")
    return made


def cupy(devices: int = 1) -> ModuleType:
    """What is used of CuPy, on numpy."""
    runtime = SimpleNamespace(getDeviceCount=lambda: devices, getDeviceProperties=lambda _: {"name": b"Fake GPU"})
    stream = SimpleNamespace(null=SimpleNamespace(synchronize=lambda: None))
    return module("cupy", cuda=SimpleNamespace(runtime=runtime, Stream=stream), asarray=np.array, sum=np.sum, asnumpy=np.asarray)


class Tensor(np.ndarray):
    """What is used of a tensor of PyTorch."""

    def cpu(self) -> "Tensor":
        """Itself."""
        return self

    def numpy(self) -> np.ndarray:
        """Itself."""
        return np.asarray(self)


def torch() -> ModuleType:
    """What is used of PyTorch, on numpy."""
    cuda = SimpleNamespace(is_available=lambda: True, get_device_name=lambda _: "Other GPU", synchronize=lambda: None)
    return module(
        "torch", cuda=cuda, as_tensor=lambda array, device: np.array(array).view(Tensor),
        sum=lambda data, dim, out: np.sum(data, axis=dim, out=out),
    )  # fmt: skip


@pytest.mark.parametrize(("library", "name"), [("cupy", "Fake GPU (cupy 1.0)"), ("torch", "Other GPU (torch 1.0)")])
def test_additions(monkeypatch, library, name):
    monkeypatch.setitem(sys.modules, "cupy", cupy() if library == "cupy" else None)
    monkeypatch.setitem(sys.modules, "torch", torch() if library == "torch" else None)
    gpu = find_gpu()
    assert gpu.name == name
    assert len(time_additions(gpu, 3, 1000, 4)) == 4
    found = ct.measure([2], [1000], [2], repetitions=1)
    assert {(one.benchmark, one.device) for one in found} == {("addition", name), ("exchange", ""), ("co-located-ps", "")}
    assert ct.measure([2], [1000], [2], repetitions=1, device="cpu")[0].device == "CPU, 1 thread"


def test_a_wrong_sum_is_noticed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy())
    wrong = replace(find_gpu(), add=lambda data, total: np.copyto(total, data[0]))
    with pytest.raises(CertreeError, match=r"on Fake GPU \(cupy 1\.0\) ended with a wrong sum"):
        time_additions(wrong, 3, 10, 1)


def test_a_gpu_that_cannot_add(monkeypatch, tmp_path):
    """A GPU with another driver is no GPU; with too little memory the measurement ends in one line."""
    broken = cupy()
    broken.asarray = lambda array: (_ for _ in ()).throw(RuntimeError("no kernel image is available"))
    monkeypatch.setitem(sys.modules, "cupy", broken)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert find_gpu() is None
    assert ct.measure([2], [1000], [2], repetitions=1)[0].device == "CPU, 1 thread"
    assert_bad_input(certree("measure", "--device", "gpu", "-o", tmp_path / "m.csv"), "cupy: no kernel image is available")
    small = cupy()
    small.asarray = lambda array: np.array(array) if array.size < 100 else (_ for _ in ()).throw(RuntimeError("out of memory"))
    monkeypatch.setitem(sys.modules, "cupy", small)
    asked = ("measure", "--servers", "2", "--floats", "1000", "--vectors", "2", "-o", tmp_path / "m.csv")
    assert_bad_input(certree(*asked), "2 vectors of 1,000 floats on Fake GPU (cupy 1.0): out of memory")
    assert_bad_input(
        certree(*asked, "--threads", "2"), "threads is 2, but Fake GPU (cupy 1.0) adds; allowed with it: 1, or device cpu"
    )


@pytest.mark.parametrize("found", [None, cupy(devices=0)], ids=["not installed", "without devices"])
def test_no_gpu(monkeypatch, tmp_path, found):
    monkeypatch.setitem(sys.modules, "cupy", found)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert find_gpu() is None
    with pytest.raises(
        InputError, match=r"device gpu: no GPU was found \(cupy [a-z ]+; torch is not installed\); allowed here: auto, cpu"
    ):
        ct.measure([2], [1000], [2], device="gpu")
    with pytest.raises(InputError, match="unknown device 'gpus'; did you mean 'gpu'"):
        ct.measure([2], [1000], [2], device="gpus")
    assert_bad_input(certree("measure", "--device", "gpu", "-o", tmp_path / "m.csv"), "no GPU was found")


def test_the_parameter_file_says_what_was_measured(tmp_path):
    times = [
        Measurement("co-located-ps", n, f, round(1e-3 + f * 4e-9 * (n - 1) / n, 9)) for n in (2, 3, 4, 5) for f in (10**5, 10**6)
    ]
    times += [
        Measurement("addition", n, f, round(f * (n + 1) * 1e-10, 9), 'A "fast" GPU, 80 GB')
        for n in (2, 3, 4)
        for f in (10**5, 10**6)
    ]
    file = tmp_path / "m.csv"
    file.write_bytes(measurements_csv(times))
    assert read_measurements(file) == times
    certree("fit", file, "--no-incast", "-o", tmp_path / "p.toml")
    assert '# addition: measured on A "fast" GPU, 80 GB\n' in (tmp_path / "p.toml").read_text()
    with pytest.raises(InputError, match="addition was measured on 'A' and on 'B'"):
        merged([Measurement("addition", 2, 3, 1.0, "A"), Measurement("addition", 3, 3, 1.0, "B")])
