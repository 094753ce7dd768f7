"""Deadlock-free routes for any network: in layers of virtual channels, and up*/down* where the machine has too few channels."""

from dataclasses import replace

import numpy as np

from certree.models.machine.machine import Machine
from certree.models.network.up_down import UpDown
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.synth.rounds import rounds_needed
from certree.verify.deadlock.freedom import deadlock
from certree.verify.deadlock.layers import layers_of
from certree.verify.deadlock.walks import schedule_vcs, schedule_walks


def with_channels(schedule: AnySchedule, machine: Machine) -> AnySchedule:
    """The schedule with routes that are free of deadlock in the routers of the machine, for any message size.

    The schedule is unchanged where it is deadlock-free already, as on grids with datelines and on trees. Its layers are dropped
    where it needs none and no message has planned waits, since messages with planned waits need buffers of their own. Otherwise its
    routes use as few layers of virtual channels as `layers_of` finds. Where the machine has fewer channels than layers, the routes
    of the surplus layers go up*/down* (`UpDown`) on the last channel, and steps become as long as their links then need. Routes
    stay as they are, and are refused later, where no up*/down* route exists (links in one direction only), and in schedules that
    repeat or have slots of fixed length, whose steps cannot become longer.

    O(hops of the routes) where no layers are needed.
    """
    if isinstance(schedule, SymmetricSchedule) or not schedule.routes:
        return schedule
    plain = schedule if schedule.virtual_channel is None else replace(schedule, virtual_channel=None)
    for known in (plain, schedule) if not schedule.plans_waits else (schedule,):
        if _is_free(known, machine):
            return known
    pairs = plain.topology.pair_of_link
    layers = layers_of([pairs[list(route)].tolist() for route in plain.routes])
    if max(layers) < machine.vc_count:
        return replace(plain, virtual_channel=np.array(layers, np.int32))
    led = _up_down(plain, layers, machine.vc_count - 1)
    return led if led is not None and _is_free(led, machine) else plain


def _is_free(schedule: Schedule, machine: Machine) -> bool:
    """Whether the routes of a schedule are free of deadlock in the routers of the machine, whatever the message size."""
    vcs = schedule_vcs(schedule, machine)
    return vcs.layers <= vcs.count and deadlock(schedule_walks(schedule, machine, vcs, 1), machine, any_size=True).free


def _up_down(plain: Schedule, layers: list[int], last: int) -> Schedule | None:
    """The schedule with routes in layers up to `last`, in which all routes of that layer and of later ones are up*/down*. None
    where it would need other slots, or where there is no such route."""
    fixed = plain.period is not None or plain.has_fine_slots or plain.provenance.get("published")
    if fixed:
        return None
    topology, up_down = plain.topology, UpDown(plain.topology)
    routes = list(plain.routes)
    for number in [number for number, layer in enumerate(layers) if layer >= last]:
        route = up_down.route(int(topology.src[routes[number][0]]), int(topology.dst[routes[number][-1]]))
        if route is None:
            return None
        routes[number] = route
    changed = sum(one != other for one, other in zip(routes, plain.routes, strict=True))
    channel = np.minimum(np.array(layers, np.int32), last)
    led = replace(plain, routes=tuple(routes), virtual_channel=channel)
    return replace(led, rounds=rounds_needed(led), provenance={**plain.provenance, "up_down_routes": changed})
