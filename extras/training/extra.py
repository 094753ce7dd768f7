"""The entries that training adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={"timeline of a training run": "run.runs:timeline", "page of a training run": "pages.page:training_page"},
    presets={
        "workloads": "model.workload_file:WORKLOADS.described",
        "accelerators": "model.accelerators.reading:ACCELERATORS.described",
    },
    plug_ins={"documents": ("documents",), "forms": ("model.workload_form",)},
)
