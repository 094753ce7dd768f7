"""The units of an endpoint as numbers for the core (`core/endpoint/read_parameters.hpp`)."""

from collections.abc import Mapping
from fractions import Fraction

from certree.extras.endpoints.model.endpoint import FLOAT_BYTES, Endpoint, Runs, System
from certree.hw.core_calls import MAX_ENTRY, check_fits

MAX_RATE = 1 << 60  # numerators, denominators and sizes among the core's scalars
COMPUTING_BLOCK_BYTES = 1 << 14  # that computing asks of memory at a time
_RUNS = {Runs.ACCELERATOR: 0, Runs.ENGINE: 1, Runs.IDEAL: 2}


def unit_scalars(endpoint: Endpoint, system: System, *, computing: Fraction = Fraction(0)) -> dict[str, int]:
    """Buses, adder and crossbar; rates are bytes in cycles of the endpoint's clock, in lowest terms. `computing`: the share of the
    memory bandwidth that computing asks for."""
    buses, engine, clock = endpoint.buses, endpoint.engine, endpoint.interface.clock_hertz
    memory = system.memory_bytes_per_second or buses.memory_bytes_per_second
    adder = endpoint.accelerator.adders * endpoint.accelerator.clock_hertz * FLOAT_BYTES * (system.compute_share or 1)
    rates = {
        "computing": computing * memory if computing else clock,
        "memory": memory,
        "interface": buses.interface_bytes_per_second,
        "adder": adder,
    }
    return {
        "system": _RUNS[system.runs],
        "bus_latency": buses.latency_cycles,
        "bus_overhead": buses.overhead_cycles,
        "bus_gap": buses.gap_cycles,
        "alus": engine.alus,
        "alu_bytes": engine.alu_bytes,
        "banks": engine.banks,
        "bank_bytes": engine.bank_bytes,
        "packet_bytes": endpoint.interface.packet_bytes,
        "computing_block": COMPUTING_BLOCK_BYTES if computing else 0,
        **{f"{name}_bytes": (rate / clock).numerator for name, rate in rates.items()},
        **{f"{name}_cycles": (rate / clock).denominator for name, rate in rates.items()},
    }


def check_scalars(scalars: Mapping[str, int]) -> None:
    """Raise UnsupportedError for a number that the core cannot hold."""
    for name, value in scalars.items():
        check_fits(name, value, MAX_RATE if name.endswith(("_bytes", "_cycles")) else MAX_ENTRY)
