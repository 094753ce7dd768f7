"""What runtimes add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "formats of programs": "make.formats:load_runtime_formats",
        "export of programs": "command.exporting:export_as_program",
    },
    registries={"runtime formats": "make.formats:load_runtime_formats"},
    plug_ins={"artefacts": ("artefacts",), "rules": ("check",)},
)
