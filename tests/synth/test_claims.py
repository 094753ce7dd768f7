"""What published algorithms claim: every network family at two sizes, every collective; valid, or refused with the reason."""

import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.verify.checker import verify_schedule
from tests.synth.execution import make

SYMMETRIC = ["all-reduce", "reduce-scatter", "all-gather"]
ROOTED = ["broadcast", "reduce", "scatter", "gather"]
COLLECTIVES = [*SYMMETRIC, "all-to-all", *ROOTED]

PACKAGES = "switch-fc:2x2x4x2"  # some ranks meet only by way of other endpoints, which do not forward where there are switches
GRIDS = ["torus:4x4", "torus:3x5", "torus:2x3x4", "mesh:2x2", "mesh:3x4", "hypercube:3", "hypercube:4", "hier-torus:2x2x2"]
GRIDS += ["hier-torus:2x3x3", "ace-torus:2x2x2", "ace-torus:2x3x2", "dgx1", "mesh:3x3"]
OTHER_DIRECT = ["ring:2", "ring:5", "ring:8", "full:2", "full:7", "torus:4x4,without-node=6", "torus:4x4,without-link=1-2"]
OTHER_DIRECT += ["mesh:1x4"]
BIGRAPHS = ["bigraph:2x4", "bigraph:4x8"]
OTHER_SWITCHED = ["switch:2", "switch:6", "ss:8", "fattree:2x3", "fattree:4x4", "bigraph:3x4", "dgx2", "dgx2:2", "leafspine:2x2x3"]
OTHER_SWITCHED += ["leafspine:4x2x2@2", "tree:2+3", "tree:3x2@2", "switch-fc:4x1", "switch-fc:3x3", PACKAGES]
OTHER_SWITCHED += ["ace-alltoall:2x2", "ace-alltoall:2x4"]
NETWORKS = GRIDS + OTHER_DIRECT + BIGRAPHS + OTHER_SWITCHED

WITHOUT_CYCLE = ["mesh:3x3", "mesh:1x4", "torus:4x4,without-node=6"]  # odd numbers of nodes of two colours, a path


def is_power_of_two(spec: str) -> bool:
    return len(parse_topology(spec).endpoints).bit_count() == 1


def no_route(spec: str) -> str | None:
    return "no route from node" if spec == PACKAGES else None


#: for each method the collectives it makes, and why it does not where it does not
CLAIMS = {
    "ring": (SYMMETRIC, lambda spec, _: no_route(spec) or (spec in WITHOUT_CYCLE and "no Hamiltonian cycle")),
    "ring-2d": (SYMMETRIC, lambda spec, _: spec not in GRIDS and "needs an undamaged direct grid"),
    "double-binary-tree": (["all-reduce", "broadcast", "reduce"], lambda spec, _: no_route(spec)),
    "halving-doubling": (
        SYMMETRIC,
        lambda spec, collective: collective != "all-reduce" and not is_power_of_two(spec) and "for a power of two of endpoints",
    ),
    "recursive-doubling": (
        ["all-reduce", "all-gather"],
        lambda spec, collective: collective != "all-reduce" and not is_power_of_two(spec) and "among a power of two of endpoints",
    ),
    "hdrm": (SYMMETRIC, lambda spec, _: spec not in BIGRAPHS and "needs a (BiGraph|power of two of endpoints)"),
    "binomial": (ROOTED, lambda spec, _: None),
    "multitree": (SYMMETRIC, lambda spec, _: None),
    "tree-all-to-all": (["all-to-all"], lambda spec, _: None),
}


@pytest.mark.parametrize("method", CLAIMS)
@pytest.mark.parametrize("spec", NETWORKS)
def test_valid_or_refused_for_the_stated_reason(spec: str, method: str) -> None:
    makes, refusal = CLAIMS[method]
    ends = parse_topology(spec).endpoints
    for collective in makes:
        root = int(ends[len(ends) // 2]) if collective in ROOTED else None
        reason = refusal(spec, collective)
        if reason:
            with pytest.raises(UnsupportedError, match=reason):
                make(method, spec, collective, root=root)
        else:
            assert verify_schedule(make(method, spec, collective, root=root)).valid


@pytest.mark.parametrize("method", CLAIMS)
def test_collectives_that_a_method_does_not_make(method: str) -> None:
    for collective in sorted(set(COLLECTIVES) - set(CLAIMS[method][0])):
        with pytest.raises(UnsupportedError, match=f"{method} does not make {collective}; it makes "):
            make(method, "torus:4x4", collective, root=0 if collective in ROOTED else None)
