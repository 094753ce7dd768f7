"""What orders of additions add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={"orders of additions": "make.orders:wanted_order"},
    plug_ins={"methods": ("methods",)},
)
