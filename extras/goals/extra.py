"""The entries that goals add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    is_preview=True,
    provides={"goals": "run.aim:aim_for"},
    registries={"goals": "run.aim:load_goals"},
    plug_ins={"goals": ("kinds",)},
)
