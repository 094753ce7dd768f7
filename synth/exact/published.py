"""Schedules of published algorithms: starting points of a search, and compared with its result."""

from dataclasses import replace

from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods
from certree.synth.monitor import Monitor


def known_schedules(topology: Topology, collective: Collective, monitor: Monitor) -> dict[str, Schedule]:
    """The schedule of every published algorithm that covers the network and the collective, by name of the method.

    Those that need a size are made for 1 MiB on the machine `multitree`, which is not recorded: a frontier is about steps and
    rounds. Stops early when the monitor's time is up.
    """
    request = Request(topology, collective, 1 << 20, load_machine("multitree"), monitor=monitor.watching())
    methods, made = load_methods(), dict[str, Schedule]()
    for name in methods:
        if not methods[name].published or monitor.expired:
            continue
        try:
            made[name] = replace(written_out(methods[name](request)), made_for=None)
        except InputError:  # UnsupportedError and other errors for requests that a method does not cover
            continue
    return made
