"""Faults of the MultiTree authors' interfaces, and results of runs with some of them."""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """Deviations of the interfaces from the paper; in brackets the behaviour without the fault.

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
    """`cycles`: when the last credit has returned, which is what their simulator reports; `last`: when the last chunk was received.
    Of all `messages`, `open_early` started while the previous message between the same two nodes was in flight, and `early` counted
    before all of their packets had arrived. `data_ok`: every member of a flow ends with the sum of all members."""

    cycles: int
    last: int
    messages: int
    open_early: int
    early: int
    data_ok: bool
