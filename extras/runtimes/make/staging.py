"""Messages that land in scratch, and are used from there once, as messages to the place where they are used."""

from collections import defaultdict
from dataclasses import replace

from certree.extras.runtimes.check.execution import Arrival
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.program import Buffer


def without_staging(arrivals: list[Arrival]) -> list[Arrival]:
    """The arrivals, where a copy from another rank to a place of scratch, and the one addition or copy that reads it there before
    something else is written to it, are one arrival: read when it was sent and written when it was used. O(arrivals).
    """
    events: defaultdict[Cell, list[tuple[int, bool, int]]] = defaultdict(list)
    for number, arrival in enumerate(arrivals):
        events[arrival.src].append((arrival.read, False, number))
        events[arrival.dst].append((arrival.written, True, number))
    dropped: set[int] = set()
    merged: dict[int, Arrival] = {}
    for cell, found in events.items():
        if cell[1] is not Buffer.SCRATCH:
            continue
        found.sort()
        for at, (_, writes, number) in enumerate(found):
            landed = arrivals[number]
            if not writes or landed.adds or landed.src[0] == cell[0] or number in merged:
                continue
            until = next((later for later in range(at + 1, len(found)) if found[later][1]), len(found))
            readers = found[at + 1 : until]
            if len(readers) != 1 or (until < len(found) and arrivals[found[until][2]].adds):
                continue
            use = arrivals[readers[0][2]]
            if use.dst[0] == cell[0] and use.dst != cell:
                dropped.add(number)
                merged[readers[0][2]] = replace(use, src=landed.src, read=landed.read, level=landed.level)
    return [merged.get(number, arrival) for number, arrival in enumerate(arrivals) if number not in dropped]
