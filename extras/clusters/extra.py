"""The entries that clusters add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    registries={"import formats": "imports:load_imports"},
    plug_ins={"network files": ("imports",), "topology families": ("families", "modifiers"), "artefacts": ("running",)},
)
