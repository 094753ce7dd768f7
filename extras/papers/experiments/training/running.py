"""The work of one cell: a training run, and the same with compute, bandwidth and latency a little smaller and larger."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.papers.experiments.training.lines import MESSAGES
from certree.extras.training.model.queue import Order
from certree.extras.training.model.workload import Act
from certree.extras.training.model.workload_file import read_workload
from certree.extras.training.run.runs import TrainingRun, run_settings
from certree.extras.training.run.settings import FACTORS, Settings, Speeds, Timing, parse_methods, scaled
from certree.extras.training.run.timers import Known
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import machine_from_document
from certree.models.network.spec import parse_topology

VARIANTS = tuple(f"{name} {change}" for name in FACTORS for change in ("less", "more"))


def run_line(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`seconds`, `exposed` and `busy` (of the network) of an iteration in seconds, as texts, and `waits`, those of waiting for the
    collectives of each layer, for "" and each of VARIANTS; or a `reason` why there are none."""
    line = arguments["line"]
    workload = read_workload(arguments["workload"], "workload")
    groups = {found.group for found in workload.communications()}
    settings = Settings(
        workload=workload,
        topology=parse_topology(arguments["network"]),
        machine=machine_from_document(line["machine"], "machine"),
        groups={group: parse_topology(network) for group, network in arguments["groups"].items() if group in groups},
        methods=parse_methods(list(line["methods"])),
        timing=Timing(line["timing"]),
        flow=line["flow"],
        without_routers=True,
        endpoint=load_endpoint("ace"),
        system=line["system"],
        program=line.get("program", MESSAGES),
        iterations=arguments["iterations"],
        order=Order(arguments["order"]),
        pieces=arguments["pieces"],
        overlap=arguments["overlap"],
        measured=tuple((size, Fraction(seconds)) for size, seconds in line["measured"]),
    )
    known = Known()
    try:
        found = {"": _facts(run_settings(settings, known))}
        for name, speeds in _variants(Fraction(arguments["sensitivity"])):
            found[name] = _facts(run_settings(replace(settings, speeds=speeds), known))
    except UnsupportedError as error:
        return {"reason": str(error)}
    return found


def _variants(change: Fraction) -> Iterator[tuple[str, Speeds]]:
    if change:
        for name in FACTORS:
            for sign, words in ((-1, "less"), (1, "more")):
                yield f"{name} {words}", scaled(Speeds(), name, 1 + sign * change)


def _facts(run: TrainingRun) -> dict[str, Any]:
    groups = {found.communication.group for found in run.training.collectives}
    busy = sum((run.training.busy(group) for group in groups), Fraction(0)) / run.settings.iterations
    waits = [str(seconds / run.settings.iterations) for seconds in run.training.by_layer(Act.WAIT)]
    return {"seconds": str(run.iteration_seconds), "exposed": str(run.exposed_seconds), "busy": str(busy), "waits": waits}
