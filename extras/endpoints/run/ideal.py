"""Runs of systems that bound another one: the fastest of several choices of chunks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from certree.extras.endpoints.model.endpoint import Endpoint, System
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.endpoint_run import EndpointResult, run_endpoints
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule


def run_system(
    schedule: Schedule,
    endpoint: Endpoint,
    system: System,
    payloads: Sequence[Payload],
    choices: Choices,
    progress: Callable[[int], None] | None = None,
    trace: Path | None = None,
    force: bool = False,
) -> EndpointResult:
    """The run of one system, as in `run_endpoints`; a system that `bounds` another one takes the fastest of several runs.

    They are: its own chunks; the chunks and messages of the other system; and these with half as many chunks at work at a time.
    Chunks that meet at a link go in the order in which they come, so that no cost at the endpoints is not always the shortest
    time: fewer chunks at a time can end earlier. That the fastest run bounds the other system is tested, not proved.
    """
    found = None
    for machine, one in _candidates(endpoint, system):
        try:
            result = run_endpoints(schedule, machine, one, payloads, choices, progress)
        except UnsupportedError:
            if one is system:
                raise
            continue
        if found is None or result.cycles < found[0].cycles:
            found = result, machine, one
    assert found is not None
    result, machine, one = found
    return result if trace is None else run_endpoints(schedule, machine, one, payloads, choices, progress, trace, force)


def _candidates(endpoint: Endpoint, system: System) -> Iterator[tuple[Endpoint, System]]:
    yield endpoint, system
    if system.bounds is None:
        return
    other = endpoint.system(system.bounds)
    same = replace(system, chunk_bytes=other.chunk_bytes, message_bytes=other.message_bytes)
    yield endpoint, same
    machines = endpoint.engine.state_machines
    if machines > 1:
        yield replace(endpoint, engine=replace(endpoint.engine, state_machines=machines // 2)), same
