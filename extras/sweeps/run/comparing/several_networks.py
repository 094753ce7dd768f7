"""Methods compared on several networks."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from certree.api import parsing
from certree.api.parsing import Network
from certree.api.settings import silent
from certree.extras.sweeps.run.comparing.comparison import compare, require_comparable
from certree.extras.sweeps.run.results.compared import ComparedMethods, ComparedNetworks
from certree.models.common.errors import InputError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective

_DECIDING = ("sizes", "methods", "baseline", "machine")  # what may be wrong before anything runs


def compare_networks(
    networks: Iterable[Network],
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    relay: str | Iterable[int] = "all",
    progress: Callable[[str], None] | None = None,
    interrupted: Callable[[ComparedNetworks], None] | None = None,
    **options: Any,
) -> ComparedNetworks:
    """Methods compared on several networks: what `compare` finds on each.

    Parameters
    ----------
    networks : iterable of str, path, Topology or graph
        Each as in `synthesize`.
    collective, root, relay
        As in `synthesize`.
    progress : callable, optional
        Receives a line for each cell.
    interrupted : callable, optional
        Receives what there is on an interrupt, before KeyboardInterrupt goes on.
    **options
        The other parameters of `compare`.

    Returns
    -------
    ComparedNetworks
        One ComparedMethods for each network, in order.

    Raises
    ------
    InputError
        Before anything runs, for what `compare` refuses on any network, and for a network that is listed twice.

    Examples
    --------
    >>> import certree.api as ct
    >>> found = ct.compare_networks(["ring:4", "full:4"], sizes=["1MiB"], methods=["ring"])
    >>> [(one.topology.name, one.cells[0]["time_cycles"]) for one in found]
    [('ring:4', 109503), ('full:4', 109503)]
    """
    asked = [parsing.relayed(network, collective, root, relay) for network in networks]
    require_all_comparable(asked, **options)
    done: list[ComparedMethods] = []
    tell = progress or silent

    def stopped(found: ComparedMethods) -> None:
        if interrupted is not None:
            interrupted(ComparedNetworks((*done, found) if found.cells else tuple(done)))

    for topology, one in asked:
        tell(f"comparing on {topology.name}")
        done.append(compare(topology, one, progress=progress, interrupted=stopped, **options))
    return ComparedNetworks(tuple(done))


def require_all_comparable(asked: Sequence[tuple[Topology, Collective]], **options: Any) -> None:
    """Raise the InputError that `compare` would raise on any of the networks, or that for none or one that is listed twice."""
    if not asked:
        raise InputError("networks: none is listed; expected at least one")
    names = [topology.name for topology, _ in asked]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{twice[0]} is listed twice; name each network once")
    for topology, collective in asked:
        require_comparable(topology, collective, **{name: options.get(name) for name in _DECIDING})
