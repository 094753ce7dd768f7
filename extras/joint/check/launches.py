"""Freedom from deadlock of launches: each rank launches its collectives in an order of its own, at any time.

The *contexts* of a rank are the number of its collectives that may be open at once: those that it launched first and that have
not ended. A collective ends when it is open at all of its members, and those that it is `after` have ended. Starts and speeds may
be any: what is open and can end stays so whatever else happens, so one run that ends what it can decides for all of them. With one
context that is so just when "i before j at some rank" has no circle. What happens inside a collective, on links and in buffers, is
not looked at here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from certree.extras.joint.model.collective_list import Entry, in_order
from certree.extras.joint.model.joint_schedule import Launching
from certree.models.common.errors import InputError
from certree.models.network.topology import Topology

Launches = Mapping[int, Sequence[str]]


@dataclass(frozen=True)
class LaunchVerdict:
    """Whether all launches end. `order`: the certificate, an order in which collectives end; every rank launches at most `contexts`
    − 1 collectives ahead of it. `circle`: else what waits for what, in words. `enough`: `contexts` where all end with
    them, else the fewest with which all do."""

    contexts: int
    order: tuple[str, ...] | None
    circle: str | None
    enough: int

    @property
    def valid(self) -> bool:
        """Whether all launches end."""
        return self.order is not None


def check_launches(topology: Topology, entries: Sequence[Entry], launches: Launches, contexts: int = 1) -> LaunchVerdict:
    """The verdict on orders of launches: whether all collectives end, whenever ranks start.

    O(contexts · launches · collectives).

    Parameters
    ----------
    topology : Topology
        The network whose endpoints launch.
    entries : sequence of Entry
        The collectives.
    launches : mapping of int to sequence of str
        By rank the names of its collectives in the order of their launches; other ranks launch in the order of `entries`.
    contexts : int
        How many collectives of a rank may be open at once.

    Returns
    -------
    LaunchVerdict
        `order` is one in which all end; else `circle` says in words what waits for what. `enough` contexts let all end.

    Raises
    ------
    InputError
        For ranks that are not endpoints, orders that are not of the collectives of their rank, and fewer contexts than 1.

    Examples
    --------
    >>> import certree.api as ct
    >>> pair = [ct.Entry("a", ct.collective("broadcast", 0), 1024), ct.Entry("b", ct.collective("broadcast", 1), 1024)]
    >>> ct.check_launches(ct.topology("ring:3"), pair, {0: ["a", "b"], 1: ["b", "a"]}).circle
    'a waits for rank 1, which is in b; b waits for rank 0, which is in a'
    """
    if contexts < 1:
        raise InputError(f"contexts is {contexts}; allowed: 1 or more")
    in_order(entries)  # names that are known, and no circle of waits
    orders = orders_of(topology, entries, launches)
    order, left = _ended(entries, orders, contexts)
    enough = contexts
    if left:
        enough = next(more for more in range(contexts + 1, len(entries) + 1) if not _ended(entries, orders, more)[1])
    return LaunchVerdict(contexts, None if left else order, _circle(entries, orders, left, contexts) if left else None, enough)


def holds_for(topology: Topology, entries: Sequence[Entry], launching: Launching) -> bool:
    """Whether the order of launches proves that all end: in it each collective is open everywhere when its turn comes. InputError
    for orders that are not of the collectives of their rank."""
    orders, done = orders_of(topology, entries, launching.orders), set[str]()
    known = {entry.name: entry for entry in entries}
    if sorted(launching.order) != sorted(known):
        return False
    for name in launching.order:
        if not done.issuperset(known[name].after):
            return False
        for order in orders.values():
            if name in order and name not in [one for one in order if one not in done][: launching.contexts]:
                return False
        done.add(name)
    return True


def orders_of(topology: Topology, entries: Sequence[Entry], launches: Launches) -> dict[int, list[str]]:
    """The collectives of each rank in the order of their launches: that of `launches`, else that of `entries`. InputError for ranks
    that are not endpoints, and for orders that are not of the collectives of their rank."""
    own: dict[int, list[str]] = {rank: [] for rank in topology.endpoints.tolist()}
    for entry in entries:
        for rank in entry.collective.fitted(topology).members_of(topology).tolist():
            own[rank].append(entry.name)
    for rank, names in launches.items():
        if rank not in own:
            raise InputError(f"launches of rank {rank}, which is not an endpoint of {topology.name}")
        if sorted(names) != sorted(own[rank]):
            raise InputError(f"launches of rank {rank} are {', '.join(names)}; its collectives: {', '.join(own[rank]) or 'none'}")
    return own | {rank: list(names) for rank, names in launches.items()}


def _ended(entries: Sequence[Entry], orders: Mapping[int, Sequence[str]], contexts: int) -> tuple[tuple[str, ...], list[Entry]]:
    """The collectives that end, in an order in which they can, and those that never do."""
    done: dict[str, None] = {}
    left = list(entries)
    while left:
        opened = _open(orders, done, contexts)
        ready = next((one for one in left if all(name in done for name in one.after) and _is_open(one.name, orders, opened)), None)
        if ready is None:
            break
        done[ready.name] = None
        left.remove(ready)
    return tuple(done), left


def _open(orders: Mapping[int, Sequence[str]], done: Mapping[str, None], contexts: int) -> dict[int, list[str]]:
    return {rank: [name for name in order if name not in done][:contexts] for rank, order in orders.items()}


def _is_open(name: str, orders: Mapping[int, Sequence[str]], opened: Mapping[int, Sequence[str]]) -> bool:
    return all(name in opened[rank] for rank, order in orders.items() if name in order)


def _circle(entries: Sequence[Entry], orders: Mapping[int, Sequence[str]], left: Sequence[Entry], contexts: int) -> str:
    """A circle among collectives that never end: each waits for a rank that is in another one, or for the end of that one."""
    stuck = {entry.name: entry for entry in left}
    done = {entry.name: None for entry in entries if entry.name not in stuck}
    opened = _open(orders, done, contexts)
    seen: list[str] = []
    words: list[str] = []
    name = left[0].name
    while name not in seen:
        seen.append(name)
        awaited = next((other for other in stuck[name].after if other in stuck), None)
        if awaited is not None:
            words.append(f"{name} waits for the end of {awaited}")
        else:
            rank = next(rank for rank, order in orders.items() if name in order and name not in opened[rank])
            awaited = opened[rank][0]
            words.append(f"{name} waits for rank {rank}, which is in {awaited}")
        name = awaited
    return "; ".join(words[seen.index(name) :])
