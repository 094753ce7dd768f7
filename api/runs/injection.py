"""Packets through the routers of a network, explicit or synthetic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.api_errors import DeadlockError
from certree.api.parsing import Network
from certree.api.runs.deadlocks import deadlock_of
from certree.api.settings import machine_for
from certree.hw.routers import packet_injection as injection
from certree.hw.routers.packet_injection import InjectionResult
from certree.hw.routers.packets import Packets, read_packets, synthetic_packets
from certree.models.common.errors import InputError
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology


@dataclass(frozen=True)
class Traffic:
    """Synthetic packets: each endpoint offers `load` flits per cycle in packets of `flits`, which start in the first `cycles`
    cycles; those before `warmup` are not measured. `hot_spot`: a node, and the share of all packets that goes there."""

    load: Fraction = Fraction(1, 10)
    flits: int = 1
    cycles: int = 10_000
    warmup: int = 2_000
    seed: int = 0
    hot_spot: tuple[int, Fraction] | None = None

    def __post_init__(self) -> None:
        if self.warmup >= self.cycles:
            raise InputError(f"a warm-up of {self.warmup} cycles leaves nothing of {self.cycles}")


@dataclass(frozen=True, repr=False)
class Injected(Shown):
    """Packets that went through the routers of a network, and when they arrived; `traffic` where they were synthetic."""

    topology: Topology
    machine: Machine
    packets: Packets
    result: InjectionResult
    traffic: Traffic | None

    def title(self) -> str:
        """The network and the machine."""
        return f"packets on {self.topology.name}, machine {self.machine.name}"

    def facts(self) -> dict[str, object]:
        """The number of packets, cycles, and measurements of synthetic ones."""
        measured = {} if self.traffic is None else self.measured()
        return {"packets": len(self.packets.id), "cycles": self.result.cycles, **measured}

    def measured(self) -> Mapping[str, Any]:
        """A point of a latency curve, for synthetic packets after the warm-up: their number, latencies in cycles, and the flits per
        cycle and endpoint that arrived."""
        assert self.traffic is not None
        warmup, result = self.traffic.warmup, self.result
        measured = (self.packets.start >= warmup) & (result.tail >= 0)
        latency = (result.tail - self.packets.start)[measured]
        accepted = result.accepted_load(self.packets, len(self.topology.endpoints), warmup, self.traffic.cycles)
        return {
            "measured_packets": int(measured.sum()),
            "mean_latency": result.mean_latency(self.packets, warmup),
            "accepted_load": accepted,
            "max_latency": int(latency.max(initial=0)),
        }


def inject(
    network: Network,
    packets: str | Path | Packets | Traffic,
    *,
    longest_wait: int | None = None,
    machine: str | Path | Machine | None = None,
    allow_deadlock: bool = False,
    trace_flits: str | Path | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Injected:
    """Simulate packets through the routers of a network.

    Parameters
    ----------
    network
        As in `topology`.
    packets : str, path, columns or Traffic
        A CSV file with the columns id, src, dst, flits and start, columns, or synthetic traffic.
    longest_wait : int, optional
        The result names packets that waited for at least as many cycles while others passed.
    machine : optional
        The machine whose routers forward, multitree by default.
    allow_deadlock : bool
        Run routes on which packets may deadlock.
    trace_flits : str or path, optional
        A file for every step of flits and credits, which `model_check` checks.
    force : bool
        Overwrite that file.
    progress : callable, optional
        Receives the cycle from time to time.

    Returns
    -------
    Injected
        With the cycles at which head and tail of each packet arrive.

    Raises
    ------
    DeadlockError
        For routes on which packets may deadlock, unless they are allowed.
    InputError
        For packets out of range.
    UnsupportedError
        Where the router model does not apply.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.inject("mesh:2x2", ct.Traffic(cycles=100, warmup=0)).result.cycles
    403
    """
    topology = parsing.topology(network)
    on = machine_for(topology, machine)
    rows = packets
    if isinstance(packets, Traffic):
        told = packets
        rows = synthetic_packets(
            topology, load=told.load, flits=told.flits, cycles=told.cycles, seed=told.seed, hot_spot=told.hot_spot
        )
    elif isinstance(packets, str | Path):
        rows = read_packets(Path(packets), topology)
    assert isinstance(rows, Packets)
    if not allow_deadlock:
        answer = deadlock_of(topology, on, rows)
        if not answer.free:
            raise DeadlockError(answer)
    path = None if trace_flits is None else Path(trace_flits)
    result = injection.inject(topology, on, rows, longest_wait=longest_wait, trace_flits=path, force=force, progress=progress)
    return Injected(topology, on, rows, result, packets if isinstance(packets, Traffic) else None)
