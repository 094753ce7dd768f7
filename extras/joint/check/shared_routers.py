"""Messages of all collectives in the routers of a machine: whether they can wait for each other in a circle, and be late."""

from collections.abc import Sequence
from functools import reduce

from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.extras.joint.model.joint_uses import link_uses_of
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.routers.transparency import (
    SHARED_INTERFACE,
    finds_room,
    has_routers,
    has_routes,
    pipeline_effect,
    shares_interfaces,
)
from certree.models.routers.virtual_channels import ClassVcs, layer_count
from certree.models.schedule.timing import FRAMINGS, chunk_bytes_of, framed_flits
from certree.verify.deadlock.deadlock_verdicts import report_deadlock
from certree.verify.deadlock.freedom import Freedom, deadlock
from certree.verify.deadlock.walks import Walks, schedule_walks
from certree.verify.order.agreement import report_late
from certree.verify.order.races import race_of
from certree.verify.verdict import Findings


def check_routers(joint: JointSchedule, findings: Findings) -> None:
    """Report a joint schedule of valid parts that the routers of its machine may spoil, by the rules for one schedule: `channel`,
    `deadlock` and, where messages may be late, `late`. O(hops of all messages, log), and `race_of` of each part for the last."""
    try:
        report_deadlock(joint_freedom(joint), findings)
    except UnsupportedError as error:
        findings.add("channel", 0, (), str(error))
        return
    why = joint_effect(joint)
    for part in joint.parts if why is not None else ():
        report_late(race_of(part.schedule), part.schedule, f"{why}, in {part.name}", findings)


def joint_freedom(joint: JointSchedule) -> Freedom:
    """Whether messages of all collectives at once can deadlock in the routers of the machine, at any timing.

    UnsupportedError for more virtual channels than the machine has. O(hops of all messages, log)."""
    return deadlock(_walks(joint, joint.parts), joint.machine)


def joint_effect(joint: JointSchedule) -> str | None:
    """The reason why routers of the machine may add to a run of all collectives in their slots, with equal clocks; None if none do.

    As `schedule_effect` of one schedule in fine slots: messages of one collective fill the buffers and take the interfaces and
    virtual channels of those of others. O(uses of links, log)."""
    machine, topology = joint.machine, joint.topology
    if not has_routers(machine):
        return None
    if machine.router.interfaces == "node" and any(_shares_interfaces(_walks(joint, parts)) for parts in _together(joint)):
        return SHARED_INTERFACE
    flits = [framed_flits(_chunk(part, machine), machine, "message") for part in joint.parts]
    is_far = any(has_routes(part.schedule) for part in joint.parts)
    layers = _layers(joint)
    effect = pipeline_effect(topology, machine, min(flits), max(flits), is_far=is_far, layers=layers)
    if effect is None:
        return None
    uses = link_uses_of(joint)
    if not finds_room(topology, machine, uses.pair, uses.entry, uses.length):
        return effect
    return pipeline_effect(topology, machine, min(flits), is_far=is_far, layers=layers, has_room=True)


def _layers(joint: JointSchedule) -> int:
    """Into how many layers the virtual channels are divided, for the messages of all."""
    return max(layer_count(part.schedule.virtual_channel) for part in joint.parts)


def _chunk(part: Part, machine: Machine) -> int:
    return chunk_bytes_of(part.entry.size, part.schedule.message_chunks, part.schedule.repeats, machine)


def _together(joint: JointSchedule) -> set[tuple[Part, ...]]:
    """The collectives that are on the network together, at the beginning of each. O(collectives^2)."""
    return {tuple(one for one in joint.parts if one is part or one.first <= part.first < one.landed) for part in joint.parts}


def _walks(joint: JointSchedule, parts: Sequence[Part]) -> Walks:
    """The walks of the messages of these collectives, as messages or packets, whichever have more flits."""
    machine = joint.machine
    vcs = ClassVcs(0, machine.vc_count - 1, _layers(joint))
    return reduce(
        Walks.joined,
        (
            schedule_walks(part.schedule, machine, vcs, max(framed_flits(_chunk(part, machine), machine, one) for one in FRAMINGS))
            for part in parts
        ),
    )


def _shares_interfaces(walks: Walks) -> bool:
    return shares_interfaces(walks.topology, walks.pair[walks.begin[:-1]], walks.pair[walks.begin[1:] - 1])
