"""The entries that workers add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "outcomes of workers": "pool:outcomes",
        "candidates on workers": "spread.candidates:made_by_workers",
        "frontier points on workers": "spread.points:answered_by_workers",
    }
)
