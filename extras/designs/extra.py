"""The entries that designs add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    is_preview=True,
    presets={"network costs": "model.network_costs:NETWORK_COSTS.described"},
    plug_ins={"documents": ("documents",)},
)
