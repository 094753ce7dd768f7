"""Steps of a schedule as flows on the links of a network, timed by GenModel."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from certree.api.api_errors import InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.api.settings import message_size
from certree.extras.costs.model.flows.time import FlowTime, Reading, reading_and_pauses, schedule_time
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, GenModel, load_genmodel
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.checker import verify_schedule

_TIMED = takes("flows on links", "members", "demand", "buffers", "virtual_channel", repeats=False)


def flow_time(
    source: str | Path | AnySchedule,
    *,
    size: int | str | None = None,
    model: str | GenModel = "gentree",
    reading: Mapping[str, str] | Reading | None = None,
) -> FlowTime:
    """Seconds of a schedule on its network by GenModel, exact: flows of a step share links (GenTree, Section 5.3).

    Parameters
    ----------
    source : Schedule, str or path
        The schedule, or its file.
    size : int or str, optional
        Bytes of the message; by default what the schedule was made for, or 64 MiB.
    model : str, path or GenModel
        The parameters: a preset or a TOML file.
    reading : mapping or Reading, optional
        An interpretation of GenModel where its paper is silent (`certree simulate --help` lists names and values). With `pauses` in
        it links pause while frames wait at their end, which takes the place of incast.

    Returns
    -------
    FlowTime

    Raises
    ------
    InvalidScheduleError
        For an invalid schedule.
    InputError
        Where the parameters or the message are out of range, or a frame of pauses is longer than a flow.
    UnsupportedError
        Where paused links wait for each other for ever, or pauses would take minutes to simulate.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.flow_time(ct.synthesize("switch:4", method="cps"), size="1MB").steps
    2
    >>> to_one = ct.synthesize("switch:4", method="reduce-broadcast", size="64KiB")
    >>> ct.flow_time(to_one, reading={"pauses": "16KiB/4KiB/0/4KiB"}).pauses
    9
    """
    schedule = schedule_of(source)
    verdict = verify_schedule(schedule)
    if not verdict.valid:
        raise InvalidScheduleError(schedule, verdict)
    parameters = model if isinstance(model, GenModel) else load_genmodel(model)
    chosen, pauses = (reading, None) if isinstance(reading, Reading) else reading_and_pauses(reading or {})
    floats = Fraction(message_size(schedule, size), FLOAT_BYTES)
    return schedule_time(_TIMED.lowered(schedule), parameters, floats, chosen, pauses)
