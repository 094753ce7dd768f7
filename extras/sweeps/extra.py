"""The entries that sweeps add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(plug_ins={"documents": ("documents",)})
