"""CSV rows between nodes that are not neighbours: by a column, by shortest routes, in dimension order."""

from itertools import product

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.dimension_order import DimensionOrder
from certree.models.network.spec import parse_topology
from tests.cli.running import assert_bad_input, certree


def nodes_passed(spec, src, dst):
    """The nodes that the route in dimension order passes."""
    topology = parse_topology(spec)
    return [src, *topology.dst[list(DimensionOrder(topology).route(src, dst))].tolist()]


@pytest.mark.parametrize(
    ("spec", "src", "dst", "nodes"),
    [("mesh:3x3", 0, 8, [0, 1, 2, 5, 8]), ("mesh:3x3", 8, 0, [8, 7, 6, 3, 0]), ("torus:5x5", 0, 19, [0, 4, 24, 19]),
     ("torus:5x5", 0, 24, [0, 4, 24]), ("ring:8", 0, 4, [0, 1, 2, 3, 4]), ("ring:8", 1, 7, [1, 0, 7]),
     ("mesh:2x2", 0, 3, [0, 1, 3]),
     ("hypercube:3", 0, 7, [0, 1, 3, 7]), ("torus:2x4", 4, 2, [4, 5, 6, 2])],
)  # fmt: skip
def test_dimension_order(spec, src, dst, nodes):
    assert nodes_passed(spec, src, dst) == nodes


@pytest.mark.parametrize("spec", ["mesh:3x4", "torus:4x3", "torus:2x5", "hypercube:3", "mesh:2x3x2"])
def test_as_short_as_any(spec):
    topology = parse_topology(spec)
    order = DimensionOrder(topology)
    for src, dst in product(range(len(topology.kind)), repeat=2):
        assert len(order.route(src, dst)) == topology.distances(src)[dst]


def test_what_dimension_order_does_not_cover():
    with pytest.raises(UnsupportedError, match="dgx1 is not a grid; dimension order needs coordinates"):
        DimensionOrder(parse_topology("dgx1"))
    with pytest.raises(UnsupportedError, match="from 0 to 4 needs 0>1, which is not a link; shortest routes go around"):
        DimensionOrder(parse_topology("mesh:3x3,without-link=0-1")).route(0, 4)


@pytest.fixture
def far(tmp_path):
    """A broadcast on a 2x3 mesh whose second row passes a node."""
    path = tmp_path / "far.csv"
    path.write_text("chunk,op,src,dst,step\n0,copy,0,1,0\n0,copy,0,4,1\n0,copy,1,2,1\n0,copy,4,3,2\n0,copy,4,5,2\n")
    return path


FOR = ("--topology", "mesh:2x3", "--collective", "broadcast", "--root", "0")


def test_routes_by_option(far):
    assert certree("verify", far, *FOR).code == 1
    for routing in ("shortest", "dimension-order"):
        told = certree("verify", far, *FOR, "--route", routing)
        assert told.code == 0, told
    assert certree("verify", far, *FOR[:1], "mesh:2x3,without-link=0-1,without-link=1-4", *FOR[2:], "--route", "shortest").code == 0


def test_routes_by_column(far, tmp_path):
    """`path` or `route`; what a row states counts, the others take the routes asked for."""
    lines = far.read_text().replace("0,copy,0,4,1", "0,copy,0,4,1,0>3>4").splitlines()
    for name in ("path", "route"):
        stated = tmp_path / f"{name}.csv"
        stated.write_text("\n".join([f"{lines[0]},{name}", *(line if ">" in line else f"{line}," for line in lines[1:])]) + "\n")
        for more in ((), ("--route", "dimension-order")):
            assert certree("verify", stated, *FOR, *more).code == 0


def test_certified_with_routes(far, tmp_path):
    out = tmp_path / "far.json"
    assert certree("certify", far, *FOR, "--route", "dimension-order", "--size", "1KiB", "-o", out).code == 0
    assert certree("verify", out).code == 0
    reason = "routes are asked for, which only a CSV may leave open"
    assert_bad_input(certree("verify", out, "--route", "shortest"), reason)


def test_refused(far):
    assert_bad_input(certree("verify", far, *FOR, "--route", "fastest"), "'fastest' is not one of 'shortest', 'dimension-order'")
    told = certree("verify", far, "--topology", "switch:6", *FOR[2:], "--route", "dimension-order")
    assert_bad_input(told, f"{far}: switch:6 is not a grid; dimension order needs coordinates")


def test_columns_of_all_rows():
    """Routes are shared by rows with the same ends."""
    topology = parse_topology("mesh:1x4")
    order = DimensionOrder(topology)
    assert order.route(0, 3) == order.route(0, 3)
    assert np.array_equal(topology.dst[list(order.route(0, 3))], [1, 2, 3])
