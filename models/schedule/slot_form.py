"""The slots of schedules: the three forms in which steps have a length."""

from enum import StrEnum


class Slots(StrEnum):
    """The form of the steps of a schedule.

    EQUAL: a step of r rounds lasts r times as long as a chunk needs. SIZED: chunks have sizes, and a step of r rounds lasts as long
    as r granules need. FINE: a step has a fixed number of cycles, at one message size and on one machine.
    """

    EQUAL = "equal slots"
    SIZED = "chunks of several sizes"
    FINE = "fine slots"
