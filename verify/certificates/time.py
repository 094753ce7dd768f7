"""The part of a certificate that bounds the time of a run, for one message size and one machine.

    {"message_bytes", "machine": {...}, "bound_cycles", "bounds": [...]}

`bounds` are time bounds (`bounds.timed`) for the instance that the schedule solves; `bound_cycles` is the largest of their values.
"""

from collections.abc import Sequence
from typing import Any

from certree.models.common.errors import InputError, MachineError, ScheduleFormatError, short
from certree.models.common.fields import Fields
from certree.models.schedule.made_for import MadeFor, read_made_for
from certree.verify.bounds.timed import TimeInstance, best_time
from certree.verify.bounds.witness import Bound, Instance, WitnessError, malformed

_KEYS = ("message_bytes", "machine", "bound_cycles", "bounds")


def time_document(instance: Instance, made_for: MadeFor, bounds: Sequence[Bound]) -> dict[str, Any]:
    """The part that states these time bounds; WitnessError for one that is not proved."""
    of = TimeInstance(instance, made_for.message_bytes, made_for.machine)
    return {**made_for.document(), "bound_cycles": best_time(of, bounds), "bounds": [dict(bound) for bound in bounds]}


def check_time(instance: Instance, document: Any) -> tuple[MadeFor, int]:
    """The message size and the machine, and the cycles that the bounds prove.

    WitnessError as `check_time_bound`, and with rule `certificate-claim` where `bound_cycles` is another number.
    """
    fields = Fields(document, "time", malformed).only(*_KEYS)
    try:
        made_for = read_made_for(Fields({key: document[key] for key in _KEYS[:2]}, "time", malformed))
        of = TimeInstance(instance, made_for.message_bytes, made_for.machine)
    except (MachineError, ScheduleFormatError, InputError) as error:
        raise malformed(str(error)) from None
    proved = best_time(of, fields.entries("bounds"))
    said = document["bound_cycles"]
    if type(said) is not int or said != proved:
        raise WitnessError("certificate-claim", f"claims bound_cycles = {short(said)}; what follows from the bounds is {proved}")
    return made_for, proved
