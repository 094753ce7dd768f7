"""Messages of tables as pieces of longer transfers of the DMAs.

A message of tables is one chunk of the schedule. What a node sends to another one in one step, with one operation, is one message
of the program of messages, of at most the `message_bytes` of the system (ACE's Table 4 has chunks, messages, packets and flits).
Here it stays several messages on the network, which are pieces of one transfer at the endpoints: the gap of LogGP follows the last
of them. Pieces of several transfers may take turns at a bus; gaps between these are left out.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


def last_pieces(sent: Mapping[str, NDArray[np.integer]], sizes: Int64, message_bytes: int | None) -> NDArray[np.uint32]:
    """Whether each message is the last piece of its transfer. `sent`: columns of the messages; `sizes`: their bytes;
    `message_bytes`: of a transfer at most, None without a limit. O(messages log messages)."""
    if not len(sizes):
        return np.zeros(0, np.uint32)
    keys = np.stack([np.asarray(sent[name], np.int64) for name in ("op", "route", "dst", "step", "src")])
    order = np.lexsort(keys)
    again = (np.diff(keys[:, order], axis=1) == 0).all(axis=0)
    first = np.flatnonzero(np.concatenate(([True], ~again)))
    place = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    most = len(order) if message_bytes is None else max(1, message_bytes // int(max(1, sizes.max())))
    ends = np.ones(len(order), np.uint32)
    ends[order[:-1]] = ~again | ((place[:-1] + 1) % most == 0)
    return ends
