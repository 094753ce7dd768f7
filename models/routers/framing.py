"""Framing of chunks: as one message, or as packets of the machine's payload."""

from certree.models.machine.machine import Machine
from certree.models.schedule.timing import ceil_div

FRAMINGS = ("message", "packet")


def packet_lengths(chunk_bytes: int, machine: Machine, framing: str) -> list[int]:
    """Flits of the packets that carry one chunk: a single message, or packets of `packet_payload_bytes` with a header each."""
    granules = chunk_bytes // machine.flit_bytes
    payload = granules if framing == "message" else max(1, machine.packet_payload_bytes // machine.flit_bytes)
    count = ceil_div(granules, payload)
    return [machine.head_flits + payload] * (count - 1) + [machine.head_flits + granules - (count - 1) * payload]
