"""The entries that algorithms in Python, and plug-ins, add to the kernel."""

from certree.models.common.extras import Extra

EXTRA = Extra(
    is_preview=True,
    provides={
        "schedules of data frames": "make.data_frames:from_dataframe",
        "data frames": "make.data_frames:to_dataframe",
    },
)
