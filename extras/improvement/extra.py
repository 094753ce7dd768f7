"""The entries that improvement adds to the kernel: a command and a function of the API."""

from certree.models.common.extras import Extra

EXTRA = Extra()
