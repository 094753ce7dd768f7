"""The entries that model checking adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "chunks that wait for a sum": "check.paced.waiting:most_waiting",
        "steps that counters are apart": "check.paced.apart:most_apart",
    },
    registries={"TLA+ properties": "check.spec_properties:load_properties"},
    plug_ins={"documents": ("documents",)},
)
