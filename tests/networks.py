"""Networks drawn for property tests, connected as they are built, and networks in files."""

from itertools import pairwise
from pathlib import Path

from hypothesis import strategies as st

from certree.models.common.errors import TopologyError
from certree.models.common.files import Opened
from certree.models.network.network_files import Given, format_of, unknown_file
from certree.models.network.topology import Topology
from tests.verify.build import network


@st.composite
def one_way(draw: st.DrawFn, most: int = 6, *, least: int = 2, widest: int = 3, switches: int = 0) -> Topology:
    """Links in one direction each, with capacities of their own: ears of a circle, so that every node reaches every other, and
    more at will. `least` to `most` endpoints, and up to `switches` switches behind them."""
    ends = draw(st.integers(least, most))
    nodes = ends + draw(st.integers(0, switches))
    links, reached = [], 1
    while reached < nodes:
        end = draw(st.integers(reached + 1, nodes))
        old = st.integers(0, reached - 1)
        ear = [draw(old), *range(reached, end), draw(old)]
        links += list(pairwise(ear))
        reached = end
    node = st.integers(0, nodes - 1)
    more = draw(st.lists(st.tuples(node, st.integers(1, nodes - 1)), max_size=2 * nodes))
    links += [(src, (src + hop) % nodes) for src, hop in more]
    return network("e" * ends + "s" * (nodes - ends), [(*link, draw(st.integers(1, widest))) for link in links])


@st.composite
def both_ways(draw: st.DrawFn, most: int = 7, *, least: int = 2, widest: int = 3, switches: int = 0) -> Topology:
    """Links of equal capacity in both directions: a tree, and more at will. Endpoints and switches as in `one_way`."""
    ends = draw(st.integers(least, most))
    nodes = ends + draw(st.integers(0, switches))
    edges = {(draw(st.integers(0, node - 1)), node) for node in range(1, nodes)}
    node = st.integers(0, nodes - 1)
    edges |= {(min(u, v), max(u, v)) for u, v in draw(st.lists(st.tuples(node, node), max_size=2 * nodes)) if u != v}
    wide = [(u, v, draw(st.integers(1, widest))) for u, v in sorted(edges)]
    return network("e" * ends + "s" * (nodes - ends), sorted(link for u, v, c in wide for link in ((u, v, c), (v, u, c))))


def load_topology(path: Path, options: Given = ()) -> Topology:
    """The network in a file, whatever its name is; TopologyError or InputError says what is wrong and where."""
    file = Opened(path)
    found = format_of(file)
    if found is None:
        raise TopologyError(unknown_file(path))
    return found.read(file, options)
