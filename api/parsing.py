"""Networks, collectives, machines and sizes, from the texts that the command line takes or from objects of the data model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from certree.models.common.errors import InputError, short
from certree.models.common.quantities import parse_duration, read_size
from certree.models.demand import Demand, demand_of_bytes, load_demand
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.relays import relayed as through
from certree.models.schedule.collective import Collective, parse_collective
from certree.synth.monitor import Monitor

DEFAULT_SIZE, DEFAULT_MACHINE = "64MiB", "multitree"


@runtime_checkable
class Graph(Protocol):
    """A graph of networkx."""

    @property
    def nodes(self) -> Any:
        """The nodes."""

    @property
    def edges(self) -> Any:
        """The edges."""


#: how a network may be given: a text or a path as on the command line, an object, or a graph
Network: TypeAlias = str | Path | Topology | Graph


def topology(network: Network) -> Topology:
    """The network of a text, a file, a networkx graph, or itself.

    Parameters
    ----------
    network : str, path, graph or Topology
        A text is what the command line takes: a family with its sizes and modifiers (`torus:8x8,without-link=0-1`), or the path of
        a file (certree JSON, node-link JSON, GraphML, NCCL XML, `nvidia-smi topo -m`). The nodes of a graph may have `kind`
        ("endpoint", "switch") and `reducing`, its edges `capacity` (chunks per round) and `latency` (cycles).

    Returns
    -------
    Topology

    Raises
    ------
    TopologyError
        For a text, a file or a graph that does not describe a network.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.topology("mesh:8x8").diameter
    (14, 0, 63)
    """
    if isinstance(network, Topology):
        return network
    if isinstance(network, str | Path):
        return parse_topology(str(network))
    if isinstance(network, Graph):
        from certree.models.network.topology_graph import topology_from_graph

        return topology_from_graph(network, "graph")
    raise InputError(f"network {network!r}: expected a text such as 'torus:8x8', a path, a Topology or a networkx graph")


def demand(amounts: str | Path | Sequence[Sequence[int]], network: Network, granule_bytes: int | None = None) -> Demand:
    """The demand of a matrix of bytes, or of a CSV with one.

    Parameters
    ----------
    amounts : matrix, str or path
        Entry (i, j): the bytes that endpoint number i has for endpoint number j; entries from an endpoint to itself do not count.
    network
        As in `topology`.
    granule_bytes : int, optional
        Each block is padded to granules of these bytes, by default those of machine multitree.

    Returns
    -------
    Demand

    Raises
    ------
    InputError
        For matrices of another size than the network, and for other entries than whole numbers from 0.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.demand([[0, 64, 32], [0, 0, 16], [0, 0, 0]], "ring:3").blocks
    ((0, 1, 4), (0, 2, 2), (1, 2, 1))
    """
    size, wanted = granule_bytes or machine().flit_bytes, topology(network)
    if isinstance(amounts, str | Path):
        return load_demand(Path(amounts), wanted, size)
    return demand_of_bytes(amounts, wanted, size)


def collective(
    kind: str | Collective,
    root: int | None = None,
    members: Iterable[int] | None = None,
    demand: Demand | None = None,
) -> Collective:
    """The collective of a name, or itself.

    Parameters
    ----------
    kind : str or Collective
        One of `certree list`.
    root : int, optional
        The endpoint at the centre of a broadcast, reduce, gather or scatter.
    members : iterable of int, optional
        Ids of the endpoints that take part, by default all. The others contribute and need nothing, and may hold and forward.
    demand : Demand, optional
        For an `alltoallv`: how much each endpoint has for each other one.

    Returns
    -------
    Collective

    Raises
    ------
    InputError
        For an unknown name, for a root that is missing or does not apply, and for fewer than two members.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.collective("broadcast", root=3).words
    'broadcast from node 3'
    >>> ct.bound("ring:6", ct.collective("all-reduce", members=[0, 1, 3])).bandwidth
    Fraction(2, 3)
    """
    if isinstance(kind, Collective):
        if root is not None and root != kind.root:
            raise InputError(f"root {root} contradicts {kind.words}")
        if members is not None or demand is not None:
            raise InputError(f"members and demand of {kind.words} are those that it names")
        return kind
    return parse_collective(kind, root, members, demand)


def relayed(
    network: Network, kind: str | Collective = "all-reduce", root: int | None = None, relay: str | Iterable[int] = "all"
) -> tuple[Topology, Collective]:
    """The network that a collective of some endpoints may use, and the collective on it.

    Parameters
    ----------
    network, kind, root
        As in `topology` and `collective`.
    relay : {"all", "members"} or iterable of int
        The endpoints through which members may pass data: all of the network, members alone, or also those of a list of ids.
        Without the others the network has another name, and bounds are those of that network.

    Returns
    -------
    Topology, Collective

    Raises
    ------
    InputError
        For a list that does not name endpoints, and where all take part.
    TopologyError
        Where members cannot reach each other.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.relayed("dgx1", ct.collective("all-reduce", members=[0, 1, 4]), relay="members")[0].name
    'dgx1,only=0-1+4'
    """
    return through(topology(network), collective(kind, root), relay)


def machine(parameters: str | Path | Machine = DEFAULT_MACHINE) -> Machine:
    """The machine of a preset's name or a TOML file, or itself.

    Parameters
    ----------
    parameters : str, path or Machine
        A machine, the name of a preset, or a TOML file; by default the machine of MultiTree.

    Returns
    -------
    Machine

    Raises
    ------
    MachineError
        For a file that is malformed.
    InputError
        For an unknown name.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.machine("multitree").flit_bytes
    16
    """
    return parameters if isinstance(parameters, Machine) else load_machine(str(parameters))


def size(message: int | str = DEFAULT_SIZE) -> int:
    """The number of bytes of a message.

    Parameters
    ----------
    message : int or str
        A whole number of bytes, or a text such as `64MiB`, `1.5KiB` or `4096`.

    Returns
    -------
    int

    Raises
    ------
    InputError
        For another text.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.size("64MiB")
    67108864
    """
    return read_size(message)


def seconds(limit: str | float | Fraction) -> Fraction:
    """A time limit in seconds: a number, or a text with a unit such as `60s` or `2m`. Raises InputError."""
    if isinstance(limit, str):
        return parse_duration(limit)
    if not 0 < limit < float("inf"):
        raise InputError(f"time limit {limit!r}; allowed: seconds above 0")
    return Fraction(limit)


def monitor(time_limit: str | float | Fraction | None, progress: Callable[[str], None] | None) -> Monitor:
    """The monitor of a search with that limit of wall time, from now on; `progress` receives its lines."""
    sink = progress or (lambda _text: None)
    return Monitor(sink=sink) if time_limit is None else Monitor.within(float(seconds(time_limit)), sink)


def option_texts(options: Mapping[str, Any] | None) -> dict[str, str]:
    """The options of a method as the command line has them: True is `true`, everything else its `str`."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in (options or {}).items()}


@dataclass(frozen=True)
class Entry:
    """A method with its options, written `name` or `name:option=value:option=value`."""

    text: str
    method: str
    options: dict[str, str]


def parse_point(text: str) -> tuple[int, int, int]:
    """The point (chunks, steps, rounds), read from C,S,R; InputError for anything else."""
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0 for word in text.split(",")]
    if len(numbers) != 3 or 0 in numbers:
        raise InputError(f"{short(text)} is not a point; expected C,S,R: chunks, steps and rounds, such as 4,3,3")
    return numbers[0], numbers[1], numbers[2]


def solver(name: str) -> str:
    """The name of a back end of formulas; InputError names the available ones.

    >>> import certree.api.parsing
    >>> certree.api.parsing.solver("z3")
    'z3'
    """
    from certree.synth.solvers.back_end import back_end

    back_end(name)
    return name


def parse_entry(text: str) -> Entry:
    """The entry that a text names; InputError for an unknown method (an unknown option is the method's to refuse)."""
    from certree.synth.method import load_methods

    method, *options = text.split(":")
    _ = load_methods()[method]
    pairs = [option.partition("=") for option in options]
    if not all(name and equals for name, equals, _ in pairs) or len({name for name, _, _ in pairs}) < len(pairs):
        raise InputError(f"method {text!r}: expected NAME:OPTION=VALUE, every option once")
    return Entry(text, method, {name: value for name, _, value in pairs})
