"""The entries that Pallas adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    is_preview=True,
    plug_ins={
        "artefacts": ("formats",),
        "program formats": ("formats",),
        "rules": ("check",),
        "executors": ("run.pallas_executor",),
    },
)
