"""What model checking adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    registries={"TLA+ properties": "check.spec_properties:load_properties"},
    plug_ins={"documents": ("documents",)},
)
