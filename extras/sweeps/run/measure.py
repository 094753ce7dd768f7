"""One cell of a sweep, as a worker computes it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.api.parsing import parse_entry
from certree.api.reports.text import counted
from certree.extras.endpoints.model.endpoint import endpoint_of_document
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.joint_report import joint_report
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import read_collectives
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run.joint_run import run_joint
from certree.extras.sweeps.run.comparing.comparison import Comparison
from certree.extras.sweeps.run.specification import NO_RUN, SEARCHED
from certree.extras.workers.networks import received
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import machine_from_document

VALID, INVALID, NOT_APPLICABLE, FAILED = "valid", "invalid", "not applicable", "failed"
MISSING = "missing"  # not run yet: the sweep was interrupted
_LEFT_OUT = ("method", "message_bytes", "options", "valid", "not_applicable", "refuted", "violations", "optimal_in", "gap")


def _endpoint(arguments: Mapping[str, Any]) -> TableEndpoints:
    params = endpoint_of_document(arguments["endpoint_params"], "endpoint_params")
    return endpoint_of_runs(arguments["endpoint"], params)


def measure(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The schedule of a method, verified, with its bounds, closed form and simulation: `status`, with a `message` where there is
    no valid schedule, and numbers; exact ones as texts."""
    return measured(comparison_of(arguments), arguments)


def comparison_of(arguments: Mapping[str, Any]) -> Comparison:
    """The parameters that a cell has in common with others."""
    return Comparison(
        *received(arguments),
        machine_from_document(arguments["machine"], "machine"),
        effort=arguments["effort"],
        seed=arguments["seed"],
        run=None if arguments["run"] == NO_RUN else arguments["run"],
        without_routers=not arguments["routers"],
        search=arguments["bounds"] == SEARCHED,
        endpoint=None if "endpoint" not in arguments else _endpoint(arguments),
    )


def measured(comparison: Comparison, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The cell, as `measure` returns it."""
    found = comparison.cell(parse_entry(arguments["method"]), arguments["size"])
    if "not_applicable" in found:
        return {"status": NOT_APPLICABLE, "message": found["not_applicable"]}
    if not found["valid"]:
        return {"status": INVALID, "message": found["refuted"]}
    row = {"status": VALID, "optimal_in": " ".join(found["optimal_in"])}
    row |= {"options": " ".join(f"{name}={value}" for name, value in found["options"].items())} if "options" in found else {}
    row |= {f"gap_{name}": gap for name, gap in found["gap"].items()}
    return row | {name: value for name, value in found.items() if name not in _LEFT_OUT}


def measure_workload(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The joint schedule of collectives that run at once, verified, with its joint bound, closed form and simulation, as `measure`;
    among the options the cycles of one after the other."""
    topology, _ = received(arguments)
    machine = machine_from_document(arguments["machine"], "machine")
    entries = read_collectives(arguments["workload"].encode(), "the workload", topology, machine).entries
    try:
        made = joint(topology, entries, machine=machine, effort=arguments["effort"], seed=arguments["seed"])
    except UnsupportedError as error:
        return {"status": NOT_APPLICABLE, "message": str(error)}
    report = joint_report(verify_joint(made))
    times = ("time_cycles", "seconds", "time_bound_cycles", "time_over_bound")
    row: dict[str, Any] = {name: report[name] for name in times if name in report}
    row |= _run_of(made)
    transfers = sum(part.schedule.transfers for part in made.parts)
    options = f"one_after_the_other_cycles={made.provenance['one_after_the_other_cycles']}"
    return {"status": VALID if report["valid"] else INVALID, "transfers": transfers, "options": options} | row


def _run_of(made: JointSchedule) -> dict[str, Any]:
    """The fields of the run of a joint schedule, or the reason why it fails or why there is none."""
    try:
        ran = run_joint(made)
    except UnsupportedError as error:
        return {"simulated_cycles": None, "not_simulated": str(error)}
    row: dict[str, Any] = {name: getattr(ran, name) for name in ("contention_cycles", "late", "data_ok", "engine")}
    row |= {"simulated_cycles": ran.cycles, "simulated_seconds": str(Fraction(ran.cycles, made.machine.clock_hz))}
    if not ran.data_ok:
        row["run_fault"] = "the run ends with wrong data"
    elif not ran.holds:
        row["run_fault"] = (
            f"the run is not as planned: {counted(ran.late, 'rows')} late, {ran.contention_cycles:,} cycles of contention, and"
            f" {ran.cycles:,} cycles for a closed form of {ran.closed_form_cycles:,}"
        )
    return row
