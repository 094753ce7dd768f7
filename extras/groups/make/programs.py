"""Programs of families of trees: their transfers in stages, without times, for the list scheduler."""

import numpy as np

from certree.extras.groups.make.relayed_family import RelayedFamily
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.synth.fine.program import Program, first_links


def family_program(family: RelayedFamily, times: int) -> Program:
    """The transfers of a family, `times` iterations one behind the other, each with chunks of its own.

    The stage of a transfer is the length of the longest chain of transfers that it needs. O(times · transfers + transfers · chain).
    """
    rows, chunks = family.transfers, family.chunks
    stage = np.zeros(len(rows.chunk), np.int32)
    while True:
        later = stage.copy()
        np.maximum.at(later, rows.after, stage[rows.before] + 1)
        if np.array_equal(later, stage):
            break
        stage = later
    links = first_links(family.topology, rows.src, rows.dst)
    routes = [(link,) if route == DIRECT else family.routes[route] for route, link in zip(rows.route.tolist(), links, strict=True)]
    chunk = np.tile(rows.chunk, times) + np.repeat(np.arange(times, dtype=np.int32) * np.int32(chunks), len(stage))
    stage, nothing = np.tile(stage, times), np.zeros(len(chunk), np.int32)
    return Program(
        family.topology,
        family.collective,
        chunk_root=np.tile(family.root, times) if family.collective.is_rooted else np.full(times * chunks, NO_ROOT, np.int32),
        chunk=chunk,
        op=np.tile(rows.op, times),
        src=np.tile(rows.src, times),
        dst=np.tile(rows.dst, times),
        src_buffer=nothing,
        dst_buffer=nothing,
        reads=stage,
        writes=stage,
        block=np.arange(len(chunk), dtype=np.int32),
        family=stage,
        part=chunk,
        routes=tuple(routes) * times,
    )
