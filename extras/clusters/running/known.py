"""Algorithms that NCCL runs on a network, by name: its rings, trees and NVLS, without a dump or a log of them.

Sources: Jeaugey, "Massively scale your deep learning training with NCCL 2.4" (2019) for trees between boxes and chains inside;
dumps of H100 and A100 boxes (NCCL_GRAPH_DUMP_FILE), in which each channel goes through the GPUs of a box in order, from another one
in each channel.
"""

from collections.abc import Callable
from dataclasses import replace

from certree.extras.clusters.families.fabric import Boxes
from certree.extras.clusters.running.channels import RING, TREE, Channels, through_boxes, trees_through_boxes
from certree.extras.clusters.running.lowering import running_schedule
from certree.models.common.errors import UnsupportedError
from certree.models.common.registry import Registry
from certree.models.network.families import load_families
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.method import Request, load_methods

KNOWN: Registry[Callable[[Request], AnySchedule]] = Registry("baseline")
PIECES = (1, 8, 32)  # of the part of a GPU, the fastest of which counts
BALANCED = 1  # NCCL's pattern of trees on boxes with switches: the second child hangs below the first rank


@KNOWN.register("nccl-ring")
def nccl_ring(request: Request) -> AnySchedule:
    """Rings through one box after the other, from another GPU in each channel where there are several boxes."""
    chains, boxes = _chains(request.topology)
    rings = tuple(through_boxes(chain, boxes) for chain in chains)
    return running_schedule(Channels(rings, ()), request, RING, "nccl-ring")


@KNOWN.register("nccl-tree")
def nccl_tree(request: Request) -> AnySchedule:
    """A chain in each box, and two binary trees between the boxes."""
    chains, boxes = _chains(request.topology)
    trees = tuple(tree for chain in chains for tree in trees_through_boxes(chain, BALANCED, boxes))
    return running_schedule(Channels((), trees), request, TREE, "nccl-tree")


@KNOWN.register("nccl-nvls")
def nccl_nvls(request: Request) -> AnySchedule:
    """NVLS: each GPU gets the sums of its part from switches that add, and sends them out to all by way of the switches."""
    form = {"form": "pull"} if request.collective.kind is CollectiveKind.ALL_REDUCE else {}
    made = [load_methods()["in-switch"](replace(request, options={**form, "pieces": str(pieces)})) for pieces in PIECES]
    return min(made, key=request.rank)


def _chains(topology: Topology) -> tuple[list[tuple[int, ...]], int]:
    """The GPUs of a box, from each of them in turn where there are several boxes, and how many boxes there are."""
    count = boxes(topology)
    size = len(topology.endpoints) // count
    first = topology.endpoints[:size]
    if len({int(topology.distances(one)[other]) for one in first.tolist() for other in first.tolist() if one != other}) > 1:
        raise UnsupportedError(
            f"{topology.name}: some GPUs of a box are nearer than others, and NCCL searches; give its graphs or log"
        )
    starts = range(size) if count > 1 else range(1)
    return [tuple((start + place) % size for place in range(size)) for start in starts], count


def boxes(topology: Topology) -> int:
    """How many boxes a network has, by its name or the option of an import, or else 1. UnsupportedError where some GPUs are not
    there. O(links)."""
    named = Boxes.named(topology.name)
    if named is None:
        return int(next((one.removeprefix("boxes=") for one in topology.name.split(",") if one.startswith("boxes=")), 1))
    if len(load_families()[named.family]("").endpoints) * named.count != len(topology.endpoints):
        raise UnsupportedError(f"{topology.name}: some GPUs of {named.head} are not there; give NCCL's graphs or log")
    return named.count
