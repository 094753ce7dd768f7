"""Networks, machines and schedules of the tests of deadlock freedom."""

from dataclasses import replace
from typing import Any

from certree.models.machine.machine import Machine, load_machine
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request, load_methods
from tests.synth.execution import ask
from tests.verify.build import network

KIB = 1024


def small(vcs: int = 1, flits: int = 8, **router: Any) -> Machine:
    """The machine multitree with other virtual channels, wormhole unless told otherwise."""
    known = load_machine("multitree")
    fields = {"flow_control": "wormhole"} | router
    return replace(known, name="small", vc_count=vcs, vc_buffer_flits=flits, router=replace(known.router, **fields))


def switch_ring(switches: int = 4) -> Topology:
    """Switches in a ring with links in one direction only, an endpoint at each."""
    around = [(switches + node, switches + (node + 1) % switches, 1) for node in range(switches)]
    spokes = [ends for node in range(switches) for ends in ((node, switches + node, 1), (switches + node, node, 1))]
    return network("e" * switches + "s" * switches, [*spokes, *around])


def direct(topology: Topology | str, machine: Machine, message_bytes: int = 64 * KIB, collective: str = "all-reduce") -> Schedule:
    """The schedule of method direct: every endpoint sends to every other."""
    request: Request = replace(ask(topology, collective, message_bytes), machine=machine)
    made = load_methods()["direct"](request)
    assert isinstance(made, Schedule)
    return made
