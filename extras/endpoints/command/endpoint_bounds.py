"""Lower bounds with endpoints of a collective on a network, as `bound --endpoint` reports them."""

from pathlib import Path
from typing import Any

import numpy as np

from certree.api import parsing
from certree.api.checks.checking import Bounds
from certree.api.runs.simulation import NO_ENDPOINT
from certree.api.settings import machine_for
from certree.extras.endpoints.check.endpoint_bound import (
    CLASS,
    LEFT_OUT,
    EndpointBound,
    Moved,
    endpoint_bound,
    moved_bytes,
    moved_of_message,
)
from certree.extras.endpoints.model.endpoint import Endpoint, load_endpoint, require_one_clock
from certree.extras.endpoints.model.named_system import named_system
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind


def bound_with_endpoint(
    network: str | Path | Topology,
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    size: int | str,
    system: str = "ace",
    params: str | Path | Endpoint = "ace",
    machine: str | Path | Machine | None = None,
) -> EndpointBound:
    """A lower bound on the cycles of `simulate` with an endpoint, by whatever schedule and chunks: the unit that needs the most.

    Endpoints have equal shares of the message. O(nodes squared).

    Parameters
    ----------
    network, collective, root
        As in `synthesize`.
    size : int or str
        Bytes of the message. Of an alltoallv the demand decides, and not `size`.
    system, params
        As in `simulate`.
    machine : str, path or Machine, optional
        A preset or a file; by default the one of `synthesize`.

    Returns
    -------
    EndpointBound
        `cycles`, and `unit`, the one that needs them.

    Raises
    ------
    InputError
        For anything malformed.
    UnsupportedError
        Where the endpoints have another clock than the machine.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.bound_with_endpoint("torus:4x4", size="4MiB", system="baseline").unit
    'links'
    """
    topology = parsing.topology(network)
    asked = parsing.collective(collective, root).fitted(topology)
    fabric = machine_for(topology, machine)
    named = named_system(system, params if isinstance(params, Endpoint) else load_endpoint(str(params)))
    require_one_clock(named.endpoint, fabric)
    moved = _moved(asked, topology, parsing.size(size), fabric)
    return endpoint_bound(topology, fabric, named.endpoint, named.system, moved)


def bound_report(found: Bounds, system: str | None, params: str | None = None) -> dict[str, Any]:
    """The keys that `bound --endpoint` adds to its report. InputError without a system or a message size. `params`: those of ACE by
    default."""
    if system is None:
        raise InputError("--endpoint-params needs --endpoint SYSTEM")
    if system == NO_ENDPOINT:
        raise InputError("--endpoint none: a run without endpoints has the bound that is printed without --endpoint")
    if found.made_for is None:
        raise InputError("--endpoint needs --size")
    size, machine = found.made_for.message_bytes, found.made_for.machine
    best = bound_with_endpoint(found.topology, found.collective, size=size, system=system, params=params or "ace", machine=machine)
    assumed = (CLASS[0], "equal shares" if found.collective.demand is None else "the blocks of the demand", *CLASS[1:])
    lines = [f"  time with endpoints {system} ≥ {best.cycles:,} cycles: {best.unit}"]
    lines += [f"    {cycles:>8,}  {unit}" for unit, cycles in sorted(best.terms.items(), key=lambda term: -term[1])]
    lines += [f"    class: {' · '.join(assumed)}", f"    left out: {', '.join(LEFT_OUT)}"]
    return {
        "endpoint": {
            "system": system,
            "cycles": best.cycles,
            "unit": best.unit,
            "terms": best.terms,
            "class": list(assumed),
            "left_out": list(LEFT_OUT),
            "words": lines,
        }
    }


def _moved(collective: Collective, topology: Topology, size: int, machine: Machine) -> Moved:
    """The bytes that a message of that size must move, in equal shares rounded down, or those that a demand states."""
    nodes = collective.members_of(topology).astype(np.int64)
    if (demand := collective.demand) is not None:
        blocks = np.array(demand.blocks, np.int64).reshape(-1, 3)
        return moved_bytes(collective, topology, blocks[:, 0], blocks[:, 1], blocks[:, 2] * machine.flit_bytes)
    if collective.has_targets:
        roots, targets = (end[~np.eye(len(nodes), dtype=bool)] for end in np.meshgrid(nodes, nodes, indexing="ij"))
        if collective.root is not None:
            kept = (targets if collective.kind is CollectiveKind.GATHER else roots) == collective.root
            roots, targets = roots[kept], targets[kept]
        return moved_of_message(collective, topology, roots, targets, size)
    roots = nodes if collective.root is None else np.array([collective.root])
    return moved_of_message(collective, topology, roots, None, size)
