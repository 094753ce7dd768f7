"""Virtual channels of routes: layers in which no messages wait for each other in a circle, for any network."""

from dataclasses import replace

import numpy as np

from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric import AnySchedule, SymmetricSchedule
from certree.verify.deadlock.freedom import deadlock
from certree.verify.deadlock.layers import layers_of
from certree.verify.deadlock.walks import schedule_vcs, schedule_walks


def with_channels(schedule: AnySchedule, machine: Machine) -> AnySchedule:
    """The schedule, its routes in as few layers of virtual channels as `layers_of` finds, so that they are free of deadlock in the
    routers of the machine whatever the message size; as it is where that is so without layers, as on grids with datelines and on
    trees, and where the machine has fewer channels than layers.

    O(hops of the routes) where no layers are needed.
    """
    if isinstance(schedule, SymmetricSchedule) or not schedule.routes or schedule.buffers > 1:
        return schedule
    plain = schedule if schedule.virtual_channel is None else replace(schedule, virtual_channel=None)
    if deadlock(schedule_walks(plain, machine, schedule_vcs(plain, machine), 1), machine, any_size=True).free:
        return plain
    pairs = plain.topology.pair_of_link
    layers = layers_of([pairs[list(route)].tolist() for route in plain.routes])
    if max(layers) >= machine.vc_count:
        return plain
    return replace(plain, virtual_channel=np.array(layers, np.int32))
