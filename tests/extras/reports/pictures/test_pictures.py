"""Pictures of networks: well-formed, the same bytes, every node and link there, nothing on top of anything."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from certree.extras.reports.pictures.layout import lay_out
from certree.extras.reports.pictures.network import network_picture
from certree.models.common.errors import TopologyError
from certree.models.network.spec import parse_topology, undamaged
from certree.models.network.topology import NodeKind
from tests.models.examples import network

NETWORKS = [
    "ring:8", "ring:2", "mesh:5", "mesh:4x4", "torus:8x8", "torus:4x4x4", "torus:3x3x3x3", "hypercube:4", "full:8", "dgx1",
    "full-mesh:5x4", "dgx2", "switch:16", "fattree:8x8", "bigraph:4x16", "leafspine:4x2x8@2", "tree:3+4@5", "ss:32", "sym384",
    "cdc384",
    "switch-fc:2x2x4x3", "ss:24,without-node=0", "sym384,without-node=383", "switch-fc:3x3x8x8", "hier-torus:3x3x4",
    "ace-torus:4x4x4", "ace-alltoall:4x4", "mesh:4x4,without-node=5,without-link=0-1",
    "hyperx:4x4@4", "hyperx:3x3x2@5", "hyperx:4x4", "hyperx:4@2,link-capacity=0-8:2", "dragonfly:8x4x2@2", "dragonfly:9x4x2",
    "dragonfly:3x2x1@9", "slimfly:5@4", "jellyfish:16x4x1@4", "jellyfish:16x4x1",
    "h100:4", "h100:4@leaf2/2", "nvl72:2", "mi300x:2",
]  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def shapes(spec, tag):
    topology = parse_topology(spec)
    return ElementTree.fromstring(network_picture(topology, undamaged(topology))).findall(f"{SVG}{tag}")


@pytest.mark.parametrize("spec", NETWORKS)
def test_nodes_stand_apart(spec):
    topology = parse_topology(spec)
    layout = lay_out(undamaged(topology) or topology)
    gaps = layout.points[:, None] - layout.points[None]
    distance = np.hypot(gaps[..., 0], gaps[..., 1]) + 1e9 * np.eye(len(layout.points))
    assert distance.min() >= 2 * layout.radius


@pytest.mark.parametrize("spec", NETWORKS)
def test_every_node_and_link_is_drawn(spec):
    """A circle for each endpoint, a square with a hint for each switch, a line for each pair that no block bundles."""
    topology = parse_topology(spec)
    layout = lay_out(undamaged(topology) or topology)
    texts = [shape.text for shape in shapes(spec, "text")]
    assert all(texts.count(str(node)) >= 1 for node in range(len(topology.kind)))
    circles = [shape for shape in shapes(spec, "circle") if shape.get("stroke-dasharray") is None]
    assert len(circles) == len(topology.endpoints)
    squares = [shape for shape in shapes(spec, "rect") if shape.find(f"{SVG}title") is not None]
    assert len(squares) == int((topology.kind == NodeKind.SWITCH).sum())
    bundled = sum(len(group) for group in layout.blocks.values())
    solid = [shape for shape in shapes(spec, "path") if shape.get("stroke-dasharray") is None]
    pairs = len({frozenset(pair) for pair in zip(topology.src.tolist(), topology.dst.tolist(), strict=True)})
    assert len(solid) >= pairs - bundled + len(layout.blocks)


@pytest.mark.parametrize(("spec", "blocks"), [("asy384", 16), ("cdc384", 16), ("tree:16+3", 0), ("tree:17+3", 1)])
def test_large_groups_form_blocks_together(spec, blocks):
    """Next to blocks of 32 rows of 16 would take most of the width."""
    assert len(lay_out(parse_topology(spec)).blocks) == blocks


@pytest.mark.parametrize("spec", NETWORKS)
def test_the_same_bytes_and_no_word_on_another(spec):
    topology = parse_topology(spec)
    picture = network_picture(topology, undamaged(topology))
    assert picture == network_picture(parse_topology(spec), undamaged(parse_topology(spec)))
    sizes = [float(size) for size in re.findall(r'font-size="([0-9.]+)"', picture)]
    assert min(sizes) >= 6.5
    places = sorted((float(t.get("y")), float(t.get("x"))) for t in shapes(spec, "text"))
    assert all(abs(y1 - y0) + abs(x1 - x0) > 5 for (y0, x0), (y1, x1) in pairwise(places))


def test_capacity_is_width():
    widths = {shape.get("stroke-width") for shape in shapes("dgx1", "path")}
    assert widths == {"1.4", "2.8"}


def test_what_was_taken_away_is_dashed():
    """Node 5 of a 4x4 mesh with its four links, and the link 0-1."""
    spec = "mesh:4x4,without-node=5,without-link=0-1"
    gone = [shape for shape in shapes(spec, "path") if shape.get("stroke-dasharray")]
    assert len(gone) == 4 + 1 + 1  # and the one of the legend
    assert len([shape for shape in shapes(spec, "circle") if shape.get("stroke-dasharray")]) == 1
    assert "removed" in [shape.text for shape in shapes(spec, "text")]
    assert undamaged(parse_topology("mesh:4x4")) is None


def test_one_way_links_are_arrows():
    """Three strokes for each direction that is left: the line and two barbs; the other direction dashed."""
    spec = "ring:4,without-link=0>1"
    assert len(shapes(spec, "path")) == 3 + 2 * 3 + 2


def test_reducing_switches_have_a_colour():
    fills = [shape.get("fill") for shape in shapes("fattree:2x2,reducing=4", "rect")]
    assert fills.count("#f3b676") == 2  # the switch, and the legend


def test_names_are_escaped():
    tiny = network(2, [(0, 1), (1, 0)], name='<a> & "b"')
    texts = ElementTree.fromstring(network_picture(tiny)).findall(f"{SVG}text")
    assert '<a> & "b"' in [text.text for text in texts]


@pytest.mark.parametrize("places", [[[0], [0]], [[-1, 0], [0, 0]], [[0, 0, 1 << 29], [1, 1, 1]], [[0, 0, 0, 9], [0, -5, 0, 0]]])
def test_coordinates_that_are_no_places(places):
    """Files may say anything; such nodes stand in a circle."""
    tiny = network(2, [(0, 1), (1, 0)], coordinates=np.array(places, np.int32))
    assert network_picture(tiny).count("<circle") == 2


def test_too_much_to_draw():
    with pytest.raises(TopologyError, match="4097 nodes; a picture shows up to 4096"):
        network_picture(parse_topology("ring:4097"))
    with pytest.raises(TopologyError, match="89700 links; a picture shows up to 65536"):
        network_picture(parse_topology("full:300"))


def test_a_full_mesh_in_two_dimensions_is_a_grid():
    points = lay_out(parse_topology("full-mesh:3x4")).points
    assert [tuple(point) for point in points / points[1][0]] == [(x, y) for y in range(3) for x in range(4)]
    circle = lay_out(parse_topology("full-mesh:3x4,without-link=0-1")).points
    assert np.ptp(np.hypot(*circle.T)) < 1e-6
