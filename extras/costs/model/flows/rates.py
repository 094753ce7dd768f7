"""Exact times of flows that share links: rates by progressive filling or equal shares, from one completion to the next."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
#: (flow and link of every hop, capacity of every link, number of flows) -> (number of the rate of each flow, rates)
Rule = Callable[[Int64, Int64, Sequence[Fraction], int], tuple[Int64, list[Fraction]]]


def makespan(parts: Int64, hop_flow: Int64, hop_link: Int64, capacity: Sequence[Fraction], rule: Rule) -> Fraction:
    """The time until the last flow ends.

    `parts`: the size of each flow; `hop_flow`, `hop_link`: the links of each flow, flows ascending; `capacity`: parts that
    each link carries per unit of time. Rates are found anew whenever flows end. Flows of equal history are one class, so that all
    arithmetic is on a few exact rationals: O(completions · bottlenecks · hops) time.
    """
    sizes, kind = np.unique(parts, return_inverse=True)
    left = [Fraction(size) for size in sizes.tolist()]
    flow, link, now = hop_flow, hop_link, Fraction(0)
    while len(kind):
        rate, rates = rule(flow, link, capacity, len(kind))
        pairs, kind = np.unique(kind.astype(np.int64) * len(rates) + rate, return_inverse=True)
        speeds = [rates[pair % len(rates)] for pair in pairs.tolist()]
        left = [left[pair // len(rates)] for pair in pairs.tolist()]
        passed = min(rest / speed for rest, speed in zip(left, speeds, strict=True))
        now += passed
        left = [rest - passed * speed for rest, speed in zip(left, speeds, strict=True)]
        going = np.array([rest > 0 for rest in left])[kind]
        kept = going[flow]
        renumbered = np.cumsum(going) - 1
        flow, link, kind = renumbered[flow[kept]], link[kept], kind[going]
    return now


def max_min(flow: Int64, link: Int64, capacity: Sequence[Fraction], flows: int) -> tuple[Int64, list[Fraction]]:
    """Max-min fair rates: the link with the least per flow fixes the rates of its flows; the others share the rest."""
    busy = np.unique(link)
    rooms = list(dict.fromkeys(capacity[number] for number in busy.tolist()))
    index = {room: number for number, room in enumerate(rooms)}
    room = np.zeros(len(capacity), np.int64)
    room[busy] = [index[capacity[number]] for number in busy.tolist()]
    rate = np.full(flows, -1, np.int64)
    rates: list[Fraction] = []
    open_flow, open_link = flow, link
    while len(open_flow):
        count = np.bincount(open_link, minlength=len(capacity))
        used = np.flatnonzero(count)
        pairs, which = np.unique(np.stack([room[used], count[used]]), axis=1, return_inverse=True)
        shares = [rooms[number] / flows_on for number, flows_on in pairs.T.tolist()]
        least = min(shares)
        tight = np.zeros(len(capacity), np.bool_)
        tight[used] = np.array([share == least for share in shares])[which.ravel()]
        fixed = np.zeros(flows, np.bool_)
        fixed[open_flow[tight[open_link]]] = True
        rate[fixed] = len(rates)
        rates.append(least)
        gone = fixed[open_flow]
        taken = np.bincount(open_link[gone], minlength=len(capacity))
        pairs, which = np.unique(np.stack([room[used], taken[used]]), axis=1, return_inverse=True)
        rooms = [rooms[number] - flows_on * least for number, flows_on in pairs.T.tolist()]
        room[used] = which.ravel()
        open_flow, open_link = open_flow[~gone], open_link[~gone]
    return rate, rates


def equal_shares(flow: Int64, link: Int64, capacity: Sequence[Fraction], flows: int) -> tuple[Int64, list[Fraction]]:
    """Every link gives each of its flows an equal share, used or not; the rate of a flow is the least on its links."""
    count = np.bincount(link, minlength=len(capacity))
    used = np.flatnonzero(count).tolist()
    shares = {number: capacity[number] / int(count[number]) for number in used}
    rates = sorted(set(shares.values()))
    order = {share: number for number, share in enumerate(rates)}
    rank = np.zeros(len(capacity), np.int64)
    rank[used] = [order[shares[number]] for number in used]
    rate = np.full(flows, len(rates), np.int64)
    np.minimum.at(rate, flow, rank[link])
    return rate, rates
