"""The entries that levels add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(is_preview=True, plug_ins={"methods": ("methods",)})
