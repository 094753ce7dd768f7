"""The entries that bundles add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    registries={"evidence": "evidence:all_evidence"},
    plug_ins={"artefacts": ("artefacts",), "documents": ("documents",), "forms": ("model.manifest_form",)},
)
