"""The entries that reports add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "picture of a network": "pictures.network:network_picture",
        "table of a schedule": "make.notebook:notebook_html",
    }
)
