"""Registered names, facts about networks, and the schemas of files."""

from functools import cache
from typing import Any

import numpy as np

from certree.api import parsing
from certree.api.artefacts import load_artefacts
from certree.api.parsing import Network
from certree.api.reports.schemas import document_schemas
from certree.api.reports.text import rounded_of
from certree.hw.formats import load_formats
from certree.models.common.errors import InputError, suggestion
from certree.models.common.extras import import_plug_ins, object_at, places
from certree.models.common.registry import Registry, import_folder
from certree.models.forms.lowering_chain import load_lowerings
from certree.models.machine.machine import MACHINES
from certree.models.network.families import load_families
from certree.models.network.spec import MODIFIERS
from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import CollectiveKind
from certree.models.schemas.form import schemas_of_forms
from certree.synth.method import load_methods
from certree.verify.bounds.timed import load_time_witnesses
from certree.verify.bounds.witness import load_witnesses
from certree.verify.exact.refutations.refutation import load_refutations
from certree.verify.rule import load_rules


def names() -> dict[str, dict[str, str]]:
    """Registered names with a line on each, by kind.

    Returns
    -------
    dict of dict
        For methods, presets, formats, topologies, collectives, cost models, ...: each name with its line.

    Examples
    --------
    >>> import certree.api as ct
    >>> "multitree" in ct.names()["methods"]
    True
    """
    return {kind: dict(registry.describe()) for kind, registry in _registries().items()} | {
        "collectives": {str(kind): "" for kind in CollectiveKind},
        "presets": MACHINES.described(),
        **{kind: object_at(place)() for kind, place in places("presets").items()},
    }


def explain(name: str) -> str:
    """The description and options of a registered name.

    Parameters
    ----------
    name : str
        A method, format, network family, cost model, rule or other name of `certree list`.

    Returns
    -------
    str
        Lines of text.

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> import certree.api as ct
    >>> print(ct.explain("ring").splitlines()[0])
    Chunks travel round a ring of all endpoints: N-1 steps per phase; bidirectional=true uses both directions at once.
    """
    registries = _registries()
    text = "\n\n".join(registry.explain(name) for registry in registries.values() if name in registry)
    if not text:
        every = {entry for registry in registries.values() for entry in registry}
        kinds = ", ".join(registries)
        raise InputError(f"no entry of `certree list` is named {name!r}{suggestion(name, sorted(every))} it explains {kinds}")
    return text


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The schema documents: `topology`, `schedule`, `symmetric-schedule`, `certificate`, `machine`, `workload`, `deadlock`,
    `tables` of files, and `certree-KIND-report` and `certree-error` of what `--json` prints.

    Those of files follow from `models/schemas`, `hw/tables/manifest_form.py` and the forms of extras, with the registered names of
    encodings.

    >>> import certree.api as ct
    >>> "readmemh" in ct.schemas()["tables"]["properties"]["encoding"]["enum"]
    True
    """
    for folder in ("models.schemas", "hw.tables"):
        import_folder(f"certree.{folder}")
    import_plug_ins("forms")
    found = schemas_of_forms()
    found["tables"]["properties"]["encoding"]["enum"] = list(load_formats())
    return found | document_schemas()


def _registries() -> dict[str, Registry[Any]]:
    return {
        "methods": load_methods(),
        "formats": load_formats(),
        "topologies": load_families(),
        "topology modifiers": MODIFIERS,
        "lowerings": load_lowerings(),
        "artefacts": load_artefacts(),
        "rules": load_rules(),
        "witnesses": load_witnesses(),
        "time witnesses": load_time_witnesses(),
        "refutations": load_refutations(),
        **{kind: object_at(place)() for kind, place in places("registries").items()},
    }


def describe(network: Network) -> dict[str, Any]:
    """Facts about a network, as in `certree topology show --json`.

    Parameters
    ----------
    network
        As in `topology`.

    Returns
    -------
    dict
        Counts of nodes and links, capacity in full links, links by their capacity, links out of an endpoint, diameter in hops, the
        bandwidth in bytes per second of a link of capacity 1 where a file states it, link rates that schedules use in part
        (`rounded`), and the digest.

    Raises
    ------
    TopologyError
        As `topology`.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.describe("fattree:4x4")["diameter"]
    {'hops': 4, 'from': 0, 'to': 4}
    """
    topology = parsing.topology(network)
    degree = np.bincount(topology.src, minlength=len(topology.kind))[topology.endpoints]
    hops, start, end = topology.diameter
    exact = topology.exact
    units, links = np.unique(exact.capacity, return_counts=True)
    total = exact.speed(int(exact.capacity.sum(dtype=np.int64)))
    return {
        "name": topology.name,
        "endpoints": len(topology.endpoints),
        "switches": int((topology.kind == NodeKind.SWITCH).sum()),
        "links": len(topology.src),
        "capacity": int(total) if total.denominator == 1 else str(total),
        "capacities": {str(exact.speed(one)): count for one, count in zip(units.tolist(), links.tolist(), strict=True)},
        "degree": {"min": int(degree.min()), "max": int(degree.max())},
        "diameter": {"hops": hops, "from": start, "to": end},
        "direct": topology.is_direct,
        "full_duplex": topology.is_full_duplex,
        "unit_bandwidth": None if topology.bandwidth is None else str(topology.bandwidth),
        **rounded_of(topology),
        "digest": topology.digest,
    }
