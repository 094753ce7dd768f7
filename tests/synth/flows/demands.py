"""Drawn demands: what each endpoint sends is divided by Zipf's law, the popular targets being the same for all, or other ones."""

import numpy as np
from numpy.typing import NDArray

from certree.api.settings import machine_for
from certree.models.demand import demand_of_bytes
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.method import Request


def zipf(endpoints: int, seed: int, sent: int, *, hot: bool) -> NDArray[np.int64]:
    """Bytes from each endpoint to each other one, `sent` by each in all; `hot`: the same targets are popular with all."""
    draw, part = np.random.default_rng(seed), 1 / np.arange(1, endpoints + 1)
    popular = part[draw.permutation(endpoints)]
    amounts = np.zeros((endpoints, endpoints), np.int64)
    for row in range(endpoints):
        weight = (popular if hot else part[draw.permutation(endpoints)]).copy()
        weight[row] = 0
        amounts[row] = weight / weight.sum() * sent
    return amounts


def drawn_request(spec: str, seed: int, sent: int, *, hot: bool = True, **fields: object) -> Request:
    """A request for such a demand, on the preset machine at the speeds of the network."""
    topology = parse_topology(spec)
    machine = machine_for(topology, None)
    demand = demand_of_bytes(zipf(len(topology.endpoints), seed, sent, hot=hot), topology, machine.flit_bytes)
    collective = parse_collective("alltoallv", demand=demand)
    return Request(topology, collective, demand.granules * machine.flit_bytes, machine, **fields)  # type: ignore[arg-type]
