"""The best schedule at one size, verified and certified: a task for a worker."""

from collections.abc import Mapping
from typing import Any

from certree.api.evidence import certified_or_fail
from certree.api.reports.time_bounds import time_bound
from certree.extras.sweeps.tuning.curve import cycles_at
from certree.extras.workers.networks import received
from certree.models.machine.machine import machine_from_document
from certree.models.schedule.symmetric.symmetric_file import any_schedule_document
from certree.synth.method import Request, load_methods


def point(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`schedule` of method auto for one size, the `method` that made it, its `time_cycles` and the bounds on its time."""
    topology, collective = received(arguments)
    machine = machine_from_document(arguments["machine"], "machine")
    size = arguments["size"]
    request = Request(topology, collective, size, machine, effort=arguments["effort"], seed=arguments["seed"])
    schedule, verdict = certified_or_fail(request.remember(load_methods()["auto"](request)))
    picked = schedule.provenance["auto"]["why"].split(": ")[0]
    return {
        "method": picked,
        "time_cycles": cycles_at(schedule, size, machine),
        "time_bounds": time_bound(schedule, verdict.quality, size, machine),
        "schedule": any_schedule_document(schedule),
    }
