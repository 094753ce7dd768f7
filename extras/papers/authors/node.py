"""State of a node whose network interfaces execute trees: its next steps, the messages it sends, the chunks it adds up."""

from collections.abc import Collection
from dataclasses import dataclass, field

from certree.extras.papers.authors.faults import Fault
from certree.extras.papers.authors.message_queues import ISSUED_PARTS, OFFERED_PARTS, QUEUED_FLITS, Message
from certree.extras.papers.authors.tables import REDUCE, Steps
from certree.models.machine.machine import Machine

NEVER = (1 << 64) - 1


def start_value(node: int, flow: int) -> int:
    """The data of a node for a flow at the start."""
    return (1 << node) * (1 + flow)


def nop_cycles(parts: int, machine: Machine, faults: Collection[Fault], *, is_whole: bool) -> int:
    """Cycles of a step without a message, for chunks of the given number of parts: the paper's estimate (footnote 4) as implemented
    in their program. `is_whole`: a chunk is one message."""
    payload = machine.packet_payload_bytes // machine.flit_bytes
    each = payload if is_whole else payload + machine.head_flits
    held = OFFERED_PARTS + ISSUED_PARTS + 2 * QUEUED_FLITS // payload  # 58, as their program counts them
    if parts > held:
        return parts * each - held * payload
    return parts if Fault.SHORT_NOP in faults else parts * each


@dataclass
class Node:
    """The state of a node in its current `phase`."""

    number: int
    steps: tuple[Steps, Steps]  # of both phases
    sending: list[Message | None]
    phase: int = REDUCE
    opens_step: bool = True  # nothing of the step in front has been started
    nop_ends: int = NEVER
    chosen: dict[int, Message] = field(default_factory=dict)
    pending: list[tuple[Message, int]] = field(default_factory=list)  # chunks to be added up, with their packets
    is_adding: bool = False

    @property
    def ahead(self) -> Steps:
        """The remaining steps of its phase."""
        return self.steps[self.phase]
