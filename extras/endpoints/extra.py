"""The entries that endpoints add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "endpoints of runs": "run.tables.table_runs:endpoint_of_runs",
        "bound with endpoints": "command.endpoint_bounds:bound_report",
        "runs with endpoints": "run.tables.table_runs:run_with_endpoints",
    },
    presets={"endpoints": "model.endpoint:ENDPOINTS.described"},
    plug_ins={"documents": ("documents",), "table formats": ("formats",), "traces": ("run.traced",)},
)
