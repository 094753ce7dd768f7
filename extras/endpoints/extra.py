"""What endpoints add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    presets={"endpoints": "model.endpoint:ENDPOINTS.described"},
    plug_ins={"documents": ("documents",), "traces": ("run.traced",)},
)
