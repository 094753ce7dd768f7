"""The virtual channels (VCs) that packets may take: by class of traffic, and hop by hop."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.routers.grid_routing import ANY, Grid

Int64 = NDArray[np.int64]
#: numbers of sets of VCs of a class: ANY, LOWER and UPPER (`grid_routing`), then one for each layer
FIRST_LAYER = 3
#: VCs of a router at most: sets of them are bits of a 64-bit number
MOST_VCS = 64


@dataclass(frozen=True)
class ClassVcs:
    """The VCs of a class of traffic, `first` to `last`; `layers` into which routes with layers divide them, in equal parts."""

    first: int
    last: int
    layers: int = 1

    @property
    def count(self) -> int:
        """The number of VCs of the class."""
        return self.last - self.first + 1

    def masks(self, machine: Machine) -> list[int]:
        """The bits of each set of VCs, by its number: all of the class, the halves below and above a dateline, then the layers.

        The halves are the whole where the machine has no datelines, or the class one VC. UnsupportedError for more layers than VCs,
        and for more VCs than MOST_VCS.
        """
        if self.last >= MOST_VCS:
            raise UnsupportedError(f"{machine.vc_count} virtual channels ({machine.name}); at most {MOST_VCS} are supported")
        half = self.count // 2 if machine.router.datelines else 0
        every = _bits(self.first, self.count)
        lower = _bits(self.first, half) if half else every
        if self.layers > self.count:
            raise UnsupportedError(
                f"the routes use {self.layers} virtual channels; machine {machine.name} has {self.count} for them"
            )
        ends = [self.first + layer * self.count // self.layers for layer in range(self.layers + 1)]
        layers = [_bits(low, high - low) for low, high in pairwise(ends)]
        return [every, lower, every & ~lower or every, *layers]


def _bits(first: int, count: int) -> int:
    return ((1 << count) - 1) << first


def class_vcs(machine: Machine, *, layers: int = 1, others: bool = False) -> tuple[ClassVcs, ClassVcs]:
    """The VCs of a collective and of the other packets next to it. Without other packets the collective has all of them, otherwise
    the others have the uppermost, or the two uppermost where there are four and datelines. UnsupportedError for both on one VC."""
    last = machine.vc_count - 1
    if not others:
        return ClassVcs(0, last, layers), ClassVcs(0, last)
    if machine.vc_count < 2:
        raise UnsupportedError("other traffic next to a collective needs separate virtual channels; the machine has only one")
    reserved = 2 if machine.vc_count > 3 and machine.router.datelines else 1
    return ClassVcs(0, last - reserved, layers), ClassVcs(last - reserved + 1, last)


def hop_sets(grid: Grid | None, links: Int64, layer: int | None = None) -> Int64:
    """The number of the set of VCs for every hop of a route over these links: that of its layer, or by the datelines of a grid.

    A route over one link may take any VC: packets wait there only for the interface behind it.
    """
    if len(links) < 2:
        return np.full(len(links), ANY, np.int64)
    if layer is not None:
        return np.full(len(links), FIRST_LAYER + layer, np.int64)
    return np.zeros(len(links), np.int64) if grid is None else grid.datelines(links)


def route_sets(grid: Grid | None, links: Int64, begin: Int64, layer: NDArray[np.int32] | None = None) -> Int64:
    """The result of `hop_sets` for many routes, one after the other: route i is `links[begin[i] : begin[i + 1]]`, of `layer[i]`."""
    length = np.diff(begin)
    if grid is None or layer is not None:
        of_route = np.zeros(len(length), np.int64) if layer is None else FIRST_LAYER + layer.astype(np.int64)
        return np.repeat(np.where(length < 2, ANY, of_route), length)
    return np.where(np.repeat(length, length) < 2, ANY, grid.datelines(links, begin))


def layer_count(virtual_channel: Sequence[int] | NDArray[np.int32] | None) -> int:
    """The layers of routes with these virtual channels; 1 where they state none."""
    return 1 if virtual_channel is None or not len(virtual_channel) else 1 + int(max(virtual_channel))
