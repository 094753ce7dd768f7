"""Chunks, steps and transfers by formula; every schedule valid, from three roots where there is one."""

from math import prod

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT
from tests.synth.execution import valid
from tests.synth.methods.test_refusals import parsed

SYMMETRIC = "all-reduce reduce-scatter all-gather"
DIRECT = "full:5 ring:5 torus:3x4 mesh:3x3 dgx1"
SWITCHED = "switch:7 fattree:3x4 bigraph:2x4 dgx2 ace-alltoall:4x3 switch-fc:6x4 leafspine:3x2x4"
GRIDS = "ring:5 torus:3x4 torus:2x3x3 mesh:3x3 ace-torus:4x2x3 hier-torus:2x2x3 hypercube:3 full:6"
ANY = "ring:2 ring:3 full:8 mesh:3x4 torus:4x4,without-node=3 switch:7 fattree:4x4 bigraph:4x8 dgx1"
POWERS = "ring:2 full:8 torus:4x4 mesh:2x4 hypercube:5 switch:16 fattree:4x4 bigraph:4x8 dgx1"
TREES = "ss:5 switch:8 tree:2x3 tree:3+4 tree:2+5 tree:1+1+2 tree:4x6@2 fattree:3x4 leafspine:3x2x4 dgx2 switch-fc:6x3"
WIDTHS = "switch:5 fattree:2x3 bigraph:2x4 dgx1 dgx2 leafspine:3x2x3 switch-fc:2x2x2x2 ace-alltoall:2x3 tree:2+3"
PACKAGES = "switch-fc:2x2x4x3 switch-fc:2x3x4x4 switch-fc:3x1x8x2 hier-torus:2x3x4 torus:3x4"
SUMMED = "switch:2 switch:7 fattree:3x4 leafspine:3x2x2 tree:3+4 tree:1+5 ace-alltoall:4x3 dgx2:1"
EVERYTHING = DIRECT + " switch:2 tree:3+4 " + SWITCHED


def log(n):
    """Rounded down."""
    return n.bit_length() - 1


#: methods, collectives, networks, fields and options in turn; (chunks, steps, transfers) of n endpoints in p phases, None: any
SHAPES = [
    ("cps", SYMMETRIC, EVERYTHING, [""], lambda n, p: (n, p, p * n * (n - 1))),
    ("hierarchical-cps", "all-reduce", "fattree:3x4 sym384 torus:3x4 dgx2 ace-alltoall:4x3", [""], lambda n, p: (None, 4, None)),
    *(("hierarchical-cps", SYMMETRIC, f"switch:{prod(f)}", [f"factors={'x'.join(map(str, f))}"],
       lambda n, p, f=f: (None, p * len(f), None)) for f in ((2, 2), (6, 2), (2, 6), (3, 5), (2, 3, 4), (4, 3, 2), (2, 2, 3, 2))),
    ("reduce-broadcast", "all-reduce", EVERYTHING, ["", "server=1"], lambda n, p: (1, 2, 2 * (n - 1))),
    ("reduce-broadcast", "reduce broadcast", "torus:3x3", [""], lambda n, p: (1, 1, n - 1)),
    ("direct", "all-to-all", SWITCHED + " full:8", ["option.steps=together"], lambda n, p: (n * (n - 1), 1, n * (n - 1))),
    ("direct", "all-to-all", SWITCHED + " full:8", ["option.steps=by-distance"], lambda n, p: (n * (n - 1), n - 1, n * (n - 1))),
    ("direct", SYMMETRIC, "full:5 switch:6 fattree:3x4", ["option.steps=together"], lambda n, p: (None, p, None)),
    ("direct", SYMMETRIC, "full:5 switch:6 fattree:3x4", ["option.steps=by-distance"], lambda n, p: (None, p * (n - 1), None)),
    ("hierarchical-all-to-all", "all-to-all", f"{GRIDS} {SWITCHED} {PACKAGES}", [""], lambda n, p: (n * (n - 1), None, None)),
    ("halving-doubling", SYMMETRIC, POWERS, ["distance=doubling", "distance=halving"],
     lambda n, p: (n, p * log(n), p * n * (n - 1))),
    # each pair of the rest: half of the chunks each way, a half handed over, all of them back
    ("halving-doubling", "all-reduce", "ring:3 ring:5 switch:6 mesh:3x4 torus:3x5 torus:4x4,without-node=5", [""],
     lambda n, p: (q := 1 << log(n), 2 * log(n) + 3, 2 * q * (q - 1) + (n - q) * (3 * q // 2 + q))),
    ("recursive-doubling", "all-reduce", ANY, [""],
     lambda n, p: (1, log(n) + 2 * (1 << log(n) < n), (q := 1 << log(n)) * log(n) + 2 * (n - q))),
    ("recursive-doubling", "all-gather", "ring:2 full:8 torus:4x4 switch:8", [""], lambda n, p: (n, log(n), n * (n - 1))),
    ("binomial", "broadcast reduce", ANY, [""], lambda n, p: (1, log(n - 1) + 1, n - 1)),
    # a chunk passes one edge for each bit of its place
    ("binomial", "scatter gather", ANY, [""], lambda n, p: (n - 1, log(n - 1) + 1, sum(place.bit_count() for place in range(n)))),
    *(("double-binary-tree", "all-reduce", ANY, [f"chunks={c} overlap=true", f"chunks={c} overlap=false"],
       lambda n, p, c=c: (c, None, 2 * c * (n - 1))) for c in (2, 8)),
    ("double-binary-tree", "broadcast reduce", ANY, ["chunks=6"], lambda n, p: (6, None, 6 * (n - 1))),
    ("double-binary-tree", "broadcast reduce", "switch:6 switch:9", ["chunks=6 rounds=published"],
     lambda n, p: (6, None, 6 * (n - 1))),
    ("multitree", SYMMETRIC, WIDTHS, ["", "order=authors", "priority=remaining-height"], lambda n, p: (n, None, p * n * (n - 1))),
    ("gentree", SYMMETRIC, TREES + " tree:2x3,without-node=4", [""], lambda n, p: (n, None, p * n * (n - 1))),
    ("asymmetric-cps", SYMMETRIC, TREES + " tree:2x3,without-node=4", [""], lambda n, p: (n, None, p * n * (n - 1))),
    ("switch-fc", "all-reduce all-gather all-to-all", PACKAGES, [""], lambda n, p: (None, None, None)),
    ("switch-fc", "all-gather", "full:3 full:5 full:6 full:12", [""], lambda n, p: (n, log(n - 1) + 1, n * (n - 1))),
    # up and down; of a pull also down to its endpoint, which sends it up again, and gets no copy
    *(("in-switch", "all-reduce", "switch:5,reducing=switches switch:9,reducing=switches", [f"option.pieces={c} option.form={f}"],
       lambda n, p, c=c, f=f: (c, None, c * (2 * n + (f == "pull")))) for c in (1, 3) for f in ("push", "pull")),
    *(("netreduce", "all-reduce", SUMMED.replace(" ", ",reducing=switches ") + ",reducing=switches", [f"chunks={c}"],
       lambda n, p, c=c: (c, None, None)) for c in (1, 3)),
]  # fmt: skip
CASES = [
    pytest.param(method, network, collective, words, shape, id=f"{method} {network} {collective} {words}".strip())
    for method, collectives, networks, options, shape in SHAPES
    for collective in collectives.split()
    for network in networks.split()
    for words in options
]


@pytest.mark.parametrize(("method", "network", "collective", "words", "shape"), CASES)
def test_shape(method, network, collective, words, shape):
    ends = parse_topology(network).endpoints.tolist()
    expected = shape(len(ends), 2 if collective == "all-reduce" else 1)
    for root in (ends[0], ends[len(ends) // 2], ends[-1]) if collective in WITH_ONE_ROOT else (None,):
        made = valid(method, network, collective, root=root, **parsed(words.split()))
        actual = made.chunks, made.steps, made.transfers
        assert all(number in (None, found) for number, found in zip(expected, actual, strict=True)), actual
        assert method != "multitree" or (made.rounds == 1).all()
