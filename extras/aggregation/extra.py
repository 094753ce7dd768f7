"""The entries that aggregation in switches adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(plug_ins={"documents": ("documents",), "traces": ("run.traced",)})
