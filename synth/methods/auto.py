"""Automatic choice: every method that applies, the fewest closed-form cycles wins."""

from dataclasses import replace

from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.schedule import Schedule
from certree.synth.method import METHODS, Request, read_options

#: first what takes no time, so that an interruption leaves something; of equally fast schedules the earlier method's is kept
ORDER = ("ring", "multitree", "packing", "retime", "exact")


@METHODS.register("auto")
def auto(request: Request) -> Schedule:
    """The best of all methods by closed-form time at the given size and machine; the provenance says what was compared.

    No options. Within a time limit it stops after the method that reached it.
    """
    read_options(request, "auto", {})
    considered: dict[str, str] = {}
    best: tuple[int, str, Schedule] | None = None
    for name in ORDER:
        if best is not None and request.monitor.expired:
            considered[name] = "not tried: time limit"
            continue
        try:
            schedule = METHODS[name](replace(request, options={}))
            cycles = request.cycles(schedule)
        except (UnsupportedError, UndecidedError) as error:
            considered[name] = str(error)
            continue
        request.monitor.offer(schedule, cycles)
        considered[name] = f"{cycles} cycles"
        request.monitor.report(f"{name}: {cycles} cycles")
        if best is None or cycles < best[0]:
            best = (cycles, name, schedule)
    if best is None:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in considered.items())
        raise UnsupportedError(f"no method applies: {reasons}")
    cycles, name, schedule = best
    why = f"{name}: fewest cycles ({cycles}) at {request.message_bytes} bytes on machine {request.machine.name}"
    request.monitor.report(f"picked {why}")
    return replace(schedule, provenance={**schedule.provenance, "auto": {"why": why, "considered": considered}})
