"""The faults of the MultiTree authors' interfaces, and what a run with some of them ends with."""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What the interfaces do that the paper's would not; without a fault they do what stands in brackets.

    ANY_INTERFACE: a message leaves by the first interface that is free and enters by each in turn (by that of its link).
    FREE_WHEN_QUEUED: an interface is free when the last part of its message is in a queue (when its last flit has left).
    LAST_PACKET: a chunk counts when its last packet is there (when all of them are).
    SHORT_NOP: a NOP lasts a cycle for each packet of a chunk that the queues hold (a cycle for each flit).
    """

    ANY_INTERFACE = "any interface"
    FREE_WHEN_QUEUED = "free when queued"
    LAST_PACKET = "last packet"
    SHORT_NOP = "short NOP"


@dataclass(frozen=True)
class AuthorsResult:
    """`cycles`: when all is over and the last credit is back, which is what their simulator reports; `last`: when the last chunk
    was taken in. Of all `messages`, `open_early` were started while the one before between the same two nodes was on its way, and
    `early` counted before all of their packets were there. `data_ok`: every member of a flow ends with the sum of all members."""

    cycles: int
    last: int
    messages: int
    open_early: int
    early: int
    data_ok: bool
