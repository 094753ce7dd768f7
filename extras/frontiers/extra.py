"""The entries that frontiers add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(plug_ins={"artefacts": ("artefacts",), "documents": ("documents",)})
