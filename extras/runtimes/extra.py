"""The entries that runtimes add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    provides={
        "formats of programs": "formats.program_format:load_program_formats",
        "export of programs": "command.exporting:export_as_program",
    },
    registries={
        "runtime formats": "formats.program_format:load_program_formats",
        "executors": "run.executors:load_executors",
    },
    plug_ins={"artefacts": ("formats",), "rules": ("check",), "documents": ("documents",)},
)
