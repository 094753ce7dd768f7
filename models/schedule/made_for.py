"""The message size and the machine that a schedule was made for."""

from dataclasses import dataclass
from typing import Annotated, Any

from certree.models.common.errors import ScheduleFormatError
from certree.models.common.fields import Fields, Limits
from certree.models.common.quantities import MAX_SIZE
from certree.models.machine.machine import Machine, machine_document, read_machine


@dataclass(frozen=True)
class MadeFor:
    """The bytes of the message and the machine (with all values, not only its name) that a schedule was made and timed for.

    It does not affect the transfers and is not in the digest of a schedule. ScheduleFormatError for a size that is not a
    whole number from 1 to MAX_SIZE.
    """

    message_bytes: Annotated[int, Limits(1, MAX_SIZE)]
    machine: Machine

    def __post_init__(self) -> None:
        if type(self.message_bytes) is not int or not 1 <= self.message_bytes <= MAX_SIZE:
            raise ScheduleFormatError(f"message_bytes is {self.message_bytes!r}; allowed: whole numbers from 1 to {MAX_SIZE}")

    def document(self) -> dict[str, Any]:
        """The object `made_for` of a schedule file."""
        return {"message_bytes": self.message_bytes, "machine": machine_document(self.machine)}


def read_made_for(fields: Fields) -> MadeFor:
    """The inverse of `MadeFor.document`; ScheduleFormatError or MachineError names the wrong field."""
    fields.only("message_bytes", "machine")
    machine = read_machine(fields.raw("machine"), f"{fields.where}: machine")
    return MadeFor(fields.whole("message_bytes", 1, MAX_SIZE), machine)
