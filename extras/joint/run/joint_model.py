"""Model checks of joint schedules: the tables of all collectives at once, in the TLA+ model of the interfaces that execute them."""

import re

from certree.api.settings import Tell, silent
from certree.extras.joint.check.shared_routers import joint_effect
from certree.extras.joint.model.joint_file import as_joint, is_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run.joint_constants import JointModel
from certree.extras.joint.run.joint_refusals import require_joint_valid
from certree.extras.joint.run.joint_rows import tables_of
from certree.extras.tla.check.counterexample import explain, picture, table_of_slots
from certree.extras.tla.check.model_runs import ModelResult, run_result
from certree.extras.tla.check.tlc import Result
from certree.extras.tla.run.schedule_kinds import SCHEDULE_KINDS, ScheduleKind

_NUMBERED = re.compile(r"\bof collective (\d+)\b")


def model_check_joint(joint: JointSchedule, time_limit: float = 300.0, tell: Tell = silent) -> ModelResult:
    """Model-check all behaviours of the tables of all collectives of a valid joint schedule at once.

    `tell` receives how large the model is before TLC starts, where it takes minutes. Raises InvalidJointError for what
    `verify_joint` refuses. The rest, with its errors, as `model_check_joint_tables`. Costs as both.
    """
    require_joint_valid(joint)
    return model_check_joint_tables(joint, time_limit, tell)


def model_check_joint_tables(joint: JointSchedule, time_limit: float = 300.0, tell: Tell = silent) -> ModelResult:
    """The result of model checking any joint schedule that has tables, without asking `verify_joint`.

    Rows fire in their slots, so that runs hardly branch: there are about as many states as in one run.

    Data of one collective must not reach another (`KeptApart`), nothing may meet on a lane (`NothingMeets`), no row may be late,
    and every collective must keep its promise, after those that it waits for (`SendsAfterOthers`). The model does not know the
    names, sizes, starts and late members that are asked for, nor copy units and routers. `mode`, `message` and `trace` of the
    result as for `model_check_tables`, `unknown` when `time_limit` seconds do not suffice. Raises UnsupportedError for a joint
    schedule that is too large for TLC or has no tables, and ToolMissingError without Java or TLC.
    """
    tables = tables_of(joint)
    model = JointModel(joint, tables)
    if not model.shows_promises:
        tell(f"TLC looks at all states of {model.size_words}; at most {time_limit:.0f} s")
    run = model.generated.run(time_limit=time_limit)
    message = _extent(model) if run.result is Result.SUCCESS else _named(joint, explain(run))
    return run_result(
        f"tables of {len(joint.parts)} collectives on {joint.topology.name}",
        run,
        "exhaustive",
        f"{message}; {model.size_words}" if run.result is Result.UNKNOWN else message,
        _named(joint, table_of_slots(run)),
        picture(run, joint.topology),
    )


def _named(joint: JointSchedule, text: str) -> str:
    """The text with the names of collectives in place of their numbers."""
    names = [part.name for part in joint.parts]
    return _NUMBERED.sub(lambda found: f"of {names[int(found[1])]}" if int(found[1]) < len(names) else found[0], text)


def _extent(model: JointModel) -> str:
    """The subject of a success, in words; the model has no routers, so also what these may add."""
    effect = joint_effect(model.joint)
    return model.extent if effect is None else f"{model.extent}; routers left out: {effect}"


SCHEDULE_KINDS.append(
    ScheduleKind(
        "a joint schedule",
        is_joint,
        lambda source, time_limit, tell: model_check_joint(as_joint(source), time_limit, tell=tell),
        {"size": "which has a size for each collective", "machine": "which names its machine"},
    )
)
