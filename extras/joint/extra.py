"""The entries that joint schedules add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    is_preview=True,
    provides={
        "joint schedules": "command.synthesizing:synthesize_workload",
        "runs of joint schedules": "command.simulating:simulate_joint",
    },
    plug_ins={"artefacts": ("artefacts",), "documents": ("documents",), "rules": ("check",), "models": ("run.joint_model",)},
)
