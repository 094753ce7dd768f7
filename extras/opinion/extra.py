"""The entries that the second opinion adds to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(is_preview=True, provides={"a second opinion": "command.answered_twice:show_answered_twice"})
