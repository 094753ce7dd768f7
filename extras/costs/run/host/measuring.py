"""Sequence of all benchmarks on this computer: the measurements to which GenModel is fitted."""

from collections.abc import Iterator
from dataclasses import dataclass

from certree.extras.costs.model.fitting.measurements import ADDITION, CO_LOCATED_PS, EXCHANGE, Measurement
from certree.extras.costs.run.host import gpu
from certree.extras.costs.run.host.addition import time_additions
from certree.extras.costs.run.host.gpu import Gpu
from certree.extras.costs.run.host.servers import Servers
from certree.models.common.errors import InputError

MOST_SERVERS, MOST_VECTORS, MOST_FLOATS = 64, 1024, 1 << 28


@dataclass(frozen=True)
class Benchmarks:
    """Configurations to measure: numbers of `servers` and `vectors`, sizes in `floats`, `repetitions` of each, `threads` that add,
    or the `gpu` that does.

    InputError names what is out of range.
    """

    servers: tuple[int, ...]
    vectors: tuple[int, ...]
    floats: tuple[int, ...]
    repetitions: int
    threads: int
    gpu: Gpu | None = None

    def __post_init__(self) -> None:
        for name, values, low, high in (
            ("servers", self.servers, 2, MOST_SERVERS),
            ("vectors", self.vectors, 2, MOST_VECTORS),
            ("floats", self.floats, max(self.servers, default=2), MOST_FLOATS),
            ("repetitions", (self.repetitions,), 1, 10_000),
            ("threads", (self.threads,), 1, 1024),
        ):
            for value in values:
                if not low <= value <= high:
                    raise InputError(f"{name}: {value}; allowed: {low} to {high}")
        if not self.servers or not self.floats:
            raise InputError("at least one number of servers and one of floats are needed")

    @property
    def device(self) -> str:
        """The device that adds: the GPU, or the CPU with its threads."""
        return self.gpu.name if self.gpu is not None else f"CPU, {self.threads} thread{'s' if self.threads > 1 else ''}"

    def _additions(self, vectors: int, floats: int) -> list[float]:
        if self.gpu is not None:
            return gpu.time_additions(self.gpu, vectors, floats, self.repetitions)
        return time_additions(vectors, floats, self.repetitions, self.threads)

    def run(self) -> Iterator[list[Measurement]]:
        """Iterator over the runs of all configurations. Time and memory grow with servers · floats."""
        for vectors in self.vectors:
            for floats in self.floats:
                yield [Measurement(ADDITION, vectors, floats, one, self.device) for one in self._additions(vectors, floats)]
        with Servers(self.servers) as servers:
            for number in self.servers:
                for floats in self.floats:
                    for benchmark in (EXCHANGE, CO_LOCATED_PS):
                        taken = servers.time(benchmark, number, floats, self.repetitions)
                        yield [Measurement(benchmark, number, floats, one) for one in taken]
