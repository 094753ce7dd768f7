"""Schedules whose programs an executor takes."""

from pathlib import Path
from tempfile import TemporaryDirectory

from certree.extras.goals.run.aim import Wanted, goal
from certree.extras.runtimes.formats.program_format import load_program_formats
from certree.extras.runtimes.model.limits import EXECUTORS, PLAN_EXECUTOR
from certree.extras.runtimes.programs import verify_program
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out


def _within(schedule: AnySchedule, executor: str, format_name: str) -> AnySchedule:
    """The schedule, where its program, written and read back, keeps the executor's limits; UnsupportedError with the limit."""
    entry = load_program_formats()[format_name]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"program{entry.suffix}"
        path.write_bytes(entry.write(written_out(schedule), None))
        answer = verify_program(path, executor=executor).program
    if not answer.valid:
        raise UnsupportedError(answer.verdict.violations[0].message)
    return schedule


def _register(executor: str, format_name: str) -> None:
    def within(schedule: AnySchedule, wanted: Wanted) -> AnySchedule:
        return _within(schedule, executor, format_name)

    within.__doc__ = f"Programs in {format_name} within the limits of the executor {executor}."
    goal(executor)(within)


for name in EXECUTORS:
    _register(name, "msccl-xml")
_register(PLAN_EXECUTOR, "mscclpp")
