"""The entries that costs add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "engine flow": "command.flow_report:simulate_by_flows",
        "readings of engine flow": "model.flows.time:CHOICES",
    },
    registries={"cost models": "model.cost_model:load_models"},
    presets={"cost presets": "model.cost_model:COST_PARAMETERS.described"},
    plug_ins={"methods": ("methods",), "documents": ("documents",)},
)
