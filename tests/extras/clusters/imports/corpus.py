"""What comes of files of other tools: a line for each file with its options, `FILE => OUTCOME`."""

from collections.abc import Iterator
from pathlib import Path

from certree.models.common.errors import InputError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology


def rows(table: Path) -> Iterator[tuple[str, str]]:
    """(file with options, outcome) of the lines of a table."""
    for line in table.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, outcome = line.partition(" => ")
            yield name.strip(), outcome.strip()


def summary(network: Topology) -> str:
    """Nodes, links, their exact rates and latencies, in all."""
    total = sum(network.exact.speed(units) for units in network.exact.capacity.tolist())
    ends, nodes = len(network.endpoints), len(network.kind)
    rate = f"{float(total)} full links" if network.bandwidth is None else f"{float(total * network.bandwidth) / 10**9:.10g} GB/s"
    known = network.latency[network.latency >= 0].tolist()
    latency = f", {sum(known)} cycles" if known else ""
    return f"{ends} endpoints, {nodes - ends} switches, {len(network.src)} links, {rate}{latency}"


def outcome(folder: Path, name: str) -> str:
    """The summary of the network, or the error."""
    try:
        return summary(parse_topology(str(folder / name)))
    except InputError as error:
        return str(error).replace(f"{folder}/", "")
