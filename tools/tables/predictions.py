"""`python -m tools.tables.predictions > docs/benchmarks/predictions.md`: predictions next to published measurements of machines.

A measurement is an all-reduce of nccl-tests that somebody published, with its source. Each is predicted twice: by the closed form
of a schedule on the default machine of the network, and where NCCL ran a ring by the cost model `nccl`. Nothing is fitted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import certree.api as ct
from certree.extras.clusters.running.known import KNOWN
from certree.models.common.quantities import parse_size

HEAD = """# Predictions and measurements

All-reduces that others measured with nccl-tests, and what certree predicts: by the closed form on the default machine of the
network, at the speed of its links, and where NCCL ran a ring by the [cost model](../reference/cost-models.md) `nccl`, with the
numbers of NCCL's own tuning model. Nothing is fitted. The error is the predicted time over the measured one, less 1. Written by
`python -m tools.tables.predictions`; a test compares the quick rows.

| measured | size | measured by | busbw GB/s, or µs | schedule | predicted | error | `nccl` predicts | error |
|---|---|---|---|---|---|---|---|---|
"""
TAIL = """
What the errors say:

- Two errors of rings cancel in part: NCCL's tuning model has 20 GB/s of 25 for an NVLink of H100s and A100s, which
  makes predictions too fast; and in the closed form each step waits for its additions, which NCCL overlaps.
- In-switch additions are predicted too slow on eight GPUs: a machine of certree has one reduction unit for all nodes, and that of a
  GPU is slower than four NVSwitches together. On 72 GPUs with 18 switches the links are the limit, and the prediction is that of
  their full speed.
- Short messages are predicted too fast: a machine has no time for the launch of a kernel, for which NCCL's model has 6.6 to 14 µs,
  and CUDA graphs take out a part of that.

[Networks](../reference/networks.md#machines-of-these-boxes) has the machines. Of several boxes there is what NVIDIA expects of a
ring, and no measured table, though some are published (coreweave/nccl-tests#43 has one of two racks). AMD states 48 of 64 GB/s for
a link of MI300X (ROCm blog on RCCL and xGMI, 2 March 2025), so that predictions there are a third too fast. For TPUs no table was
found.
"""


@dataclass(frozen=True)
class Measured:
    """One measurement: bus bandwidth in GB/s, as nccl-tests defines it, or microseconds. `method` is what NCCL ran, or the nearest
    method of certree; `costs` the parameters of its cost model, empty where there are none."""

    what: str
    network: str
    method: str
    size: str
    source: str
    busbw: Fraction | None = None
    microseconds: Fraction | None = None
    costs: str = ""

    def seconds(self) -> Fraction:
        """The measured time."""
        if self.microseconds is not None:
            return self.microseconds / 10**6
        endpoints = len(ct.topology(self.network).endpoints)
        assert self.busbw is not None
        return Fraction(2 * (endpoints - 1), endpoints) * parse_size(self.size) / (self.busbw * 10**9)


def _rack() -> Iterator[Measured]:
    source = "coreweave/nccl-tests#43, 2025-02-20"
    for size, busbw in (("512MiB", "586.06"), ("2GiB", "757.78"), ("8GiB", "834.57")):
        yield Measured("72 GPUs of a GB200 NVL72", "nvl72,reducing=switches", "in-switch", size, source, Fraction(busbw))


MEASURED = (
    Measured("8 H100, ring", "h100", "ring:channels=18", "4GiB", "NVIDIA/nccl#1455, 2024-09-19: 365 to 370", Fraction(370),
             costs="nccl-h100-simple"),
    Measured("8 A100", "a100", "ring:channels=12", "1GiB", "NVIDIA/nccl-tests#149, 2023-06-27: about 200", Fraction(200),
             costs="nccl-a100-simple"),
    Measured("2 of 8 H100, NVLS, CUDA graphs", "h100,only=0-1", "ring:channels=18", "64KiB",
             "NVIDIA/nccl#1259, 2024-04-22: about 6 µs", microseconds=Fraction(6)),
    Measured("8 H100, NVLS", "h100,reducing=switches", "in-switch", "4GiB", "NVIDIA/nccl#1455, 2024-09-19", Fraction(480)),
    Measured("8 H200", "h100,reducing=switches", "in-switch", "4GiB", "NVIDIA/nccl-tests#272, 2024-11-27: the peak", Fraction(475)),
    Measured("2 boxes of 8 H100, ring, NDR", "h100:2@switch,fabric-latency=1280", "nccl-ring", "4GiB",
             "NVIDIA/nccl-tests#290, 2025-03-03: 46 to 48 for an interface is what NVIDIA expects", Fraction(376)),
    *_rack(),
)  # fmt: skip


def row(measured: Measured) -> str:
    """The line of the table."""
    named, methods = (measured.method, ["ring"]) if measured.method in KNOWN else (None, [measured.method])
    cells = ct.compare(measured.network, sizes=[measured.size], methods=methods, baseline=named, run=None).cells
    predicted, known = Fraction(cells[0]["seconds"]), measured.seconds()
    costs = None
    if measured.costs:
        costs = Fraction(
            ct.cost(measured.network, size=measured.size, parameters=measured.costs, methods=[measured.method]).cells[0]["seconds"]
        )
    shown = f"{float(measured.busbw):g}" if measured.busbw is not None else f"{float(measured.microseconds or 0):g} µs"
    parts = [measured.what, measured.size, measured.source, shown, f"`{measured.method}` on `{measured.network}`"]
    parts += [_shown(measured, predicted), _error(predicted, known)]
    parts += ["-", "-"] if costs is None else [_shown(measured, costs), _error(costs, known)]
    return "| " + " | ".join(parts) + " |\n"


def _shown(measured: Measured, seconds: Fraction) -> str:
    if measured.busbw is None:
        return f"{float(seconds * 10**6):.3g} µs"
    return f"{float(measured.busbw * measured.seconds() / seconds):.4g}"


def _error(predicted: Fraction, known: Fraction) -> str:
    return f"{float(predicted / known - 1):+.1%}"


def main() -> None:
    """Print the page."""
    print(HEAD + "".join(map(row, MEASURED)) + TAIL, end="")


if __name__ == "__main__":
    main()
