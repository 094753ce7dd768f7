"""The entries that XLA adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    is_preview=True,
    plug_ins={"artefacts": ("formats",), "program formats": ("formats",), "executors": ("run.jax_executor",)},
)
