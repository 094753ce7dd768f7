"""One cell of a sweep, as a worker computes it."""

from collections.abc import Mapping
from typing import Any

from certree.api.parsing import parse_entry
from certree.extras.endpoints.model.endpoint import endpoint_of_document
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.extras.sweeps.run.comparing.comparison import Comparison
from certree.extras.sweeps.run.specification import NO_RUN, SEARCHED
from certree.extras.workers.networks import received
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
    comparison = Comparison(
        *received(arguments),
        machine_from_document(arguments["machine"], "machine"),
        effort=arguments["effort"],
        seed=arguments["seed"],
        run=None if arguments["run"] == NO_RUN else arguments["run"],
        without_routers=not arguments["routers"],
        search=arguments["bounds"] == SEARCHED,
        endpoint=None if "endpoint" not in arguments else _endpoint(arguments),
    )
    found = comparison.cell(parse_entry(arguments["method"]), arguments["size"])
    if "not_applicable" in found:
        return {"status": NOT_APPLICABLE, "message": found["not_applicable"]}
    if not found["valid"]:
        return {"status": INVALID, "message": found["refuted"]}
    row = {"status": VALID, "optimal_in": " ".join(found["optimal_in"])}
    row |= {"options": " ".join(f"{name}={value}" for name, value in found["options"].items())} if "options" in found else {}
    row |= {f"gap_{name}": gap for name, gap in found["gap"].items()}
    return row | {name: value for name, value in found.items() if name not in _LEFT_OUT}
