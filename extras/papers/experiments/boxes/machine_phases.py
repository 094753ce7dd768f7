"""Phases of an all-reduce over machines of several GPUs, each simulated on its own network with one flit per cycle."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certree.api.runs.deadlocks import run_free
from certree.extras.aggregation.run.aggregation_run import simulate_aggregation
from certree.extras.aggregation.run.aggregations import require_free_trees
from certree.extras.aggregation.run.setup import MAX_ADDERS, AggregationRules
from certree.extras.aggregation.run.switch_trees import AggregationTrees
from certree.extras.workers.task import Task
from certree.hw.engines.runs import Options
from certree.hw.run import tables_or_plan
from certree.models.common.errors import CertreeError
from certree.models.machine.machine import Machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import ceil_div
from certree.synth.method import Request, load_methods

IN_SWITCHES = "in switches"  # in place of a method
_AT_ONCE = 1 << 40  # bytes that an adder takes in a cycle: a chunk or packet takes one cycle, whatever its size


@dataclass(frozen=True)
class Phase:
    """One phase: a method on a network whose links carry `rate` bytes per second and take the `hops`-th part of alpha each, so a
    message over `hops` of them takes alpha."""

    network: str
    method: str
    collective: str
    message_bytes: int
    rate: Fraction
    alpha_seconds: Fraction
    hops: int
    flit_bytes: int
    packet_bytes: int

    @property
    def cycle_seconds(self) -> Fraction:
        """A flit's time on a link."""
        return self.flit_bytes / self.rate

    @property
    def task(self) -> Task:
        """The task of a worker; its result has the `cycles`, or null and a `reason`."""
        latency = self.alpha_seconds / self.hops / self.cycle_seconds
        arguments = {
            "network": self.network,
            "method": self.method,
            "collective": self.collective,
            "message_bytes": self.message_bytes,
            "link_cycles": ceil_div(latency.numerator, latency.denominator),
            "flit_bytes": self.flit_bytes,
            "packet_bytes": self.packet_bytes,
        }
        return Task(f"{self.method} on {self.network}, {self.message_bytes} bytes", run_phase, arguments)


def run_phase(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Cycles of one phase, with every rank's data checked: switches packet by packet, anything else as its schedule in slots."""
    machine = Machine(
        name="phase",
        clock_hz=1,
        flit_bytes=arguments["flit_bytes"],
        head_flits=1,
        link_latency_cycles=arguments["link_cycles"],
        router_cycles=0,
        ni_cycles=0,
        ni_buffer_flits=0,
        reduce_bytes_per_cycle=_AT_ONCE,
        reduce_quantum_cycles=1,
        reduce_start_cycles=0,
        vc_count=1,
        vc_buffer_flits=1,
        packet_payload_bytes=arguments["packet_bytes"],
    )
    message_bytes, in_switches = arguments["message_bytes"], arguments["method"] == IN_SWITCHES
    method = load_methods()["netreduce" if in_switches else arguments["method"]]
    collective, topology = parse_collective(arguments["collective"]), parse_topology(arguments["network"])
    try:
        schedule = written_out(method(Request(topology, collective, message_bytes, machine, chunks=1 if in_switches else None)))
        if in_switches:
            rules = AggregationRules(adders=MAX_ADDERS)
            trees = AggregationTrees.of(schedule)
            require_free_trees(trees, machine)
            aggregated = simulate_aggregation(trees, machine, message_bytes, rules)
            cycles, data_ok = aggregated.cycles, aggregated.data_ok
        else:
            result = run_free(tables_or_plan(schedule, message_bytes, machine), Options())
            cycles, data_ok = result.cycles, result.data_ok
    except CertreeError as error:
        return {"cycles": None, "reason": str(error)}
    return {"cycles": cycles} if data_ok else {"cycles": None, "reason": "the run ends with wrong data"}
