"""The entries that orders of additions add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "orders of additions": "make.orders:wanted_order",
        "the bound of an order": "make.bounds:order_bound",
        "the bound of the order of a schedule": "make.bounds:with_order_bound",
    },
    plug_ins={"methods": ("methods",)},
)
