"""The entries that papers add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    registries={"experiments": "experiment:load_experiments"},
    presets={"targets": "target:targets"},
    plug_ins={"documents": ("documents",)},
)
