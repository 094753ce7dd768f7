"""The entries that the proved checker adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(is_preview=True, provides={"the answer of the proved checker": "run.proved_answer:with_proved_answer"})
