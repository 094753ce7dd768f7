"""The part of a certificate that bounds the time of a run, for one message size and one machine.

    {"message_bytes", "machine": {...}, "bound_cycles", "bounds": [...]}

`bounds` are time bounds (`bounds.timed`) for the instance that the schedule solves; `bound_cycles` is the largest of their values.
In an all-gather or reduce-scatter `bound_cycles_any_shares` is the largest of those that hold for any shares; it may be missing.
"""

from collections.abc import Sequence
from typing import Any

from certree.models.common.errors import InputError, MachineError, ScheduleFormatError, short
from certree.models.common.fields import Fields
from certree.models.schedule.made_for import MadeFor, read_made_for
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, best_general_time, best_time
from certree.verify.bounds.witness import Bound, WitnessError, malformed, with_class
from certree.verify.verdict import ProvedTime

_KEYS, ANY_SHARES = ("message_bytes", "machine", "bound_cycles", "bounds"), "bound_cycles_any_shares"


def time_document(instance: Instance, made_for: MadeFor, bounds: Sequence[Bound]) -> dict[str, Any]:
    """The part that states these time bounds; WitnessError for one that is not proved."""
    of = TimeInstance(instance, made_for.message_bytes, made_for.machine)
    proved = best_time(of, bounds)
    general = {ANY_SHARES: any_shares} if (any_shares := best_general_time(of, bounds)) is not None else {}
    return {**made_for.document(), "bound_cycles": proved, **general, "bounds": [with_class(instance, bound) for bound in bounds]}


def check_time(instance: Instance, document: Any) -> ProvedTime:
    """The message size and the machine, and the cycles that the bounds prove.

    WitnessError as `check_time_bound`, and with rule `certificate-claim` where `bound_cycles` or `bound_cycles_any_shares` is
    another number.
    """
    fields = Fields(document, "time", malformed).only(*_KEYS, optional=[ANY_SHARES])
    try:
        made_for = read_made_for(Fields({key: document[key] for key in _KEYS[:2]}, "time", malformed))
        of = TimeInstance(instance, made_for.message_bytes, made_for.machine)
    except (MachineError, ScheduleFormatError, InputError) as error:
        raise malformed(str(error)) from None
    proved = best_time(of, fields.entries("bounds"))
    general = best_general_time(of, document["bounds"])
    for name, true in (("bound_cycles", proved), (ANY_SHARES, general)):
        said = document.get(name, true)
        if type(said) is not type(true) or said != true:
            raise WitnessError("certificate-claim", f"claims {name} = {short(said)}; what follows from the bounds is {true}")
    return ProvedTime(made_for, proved, general)
