"""The interactive view of a schedule as a page of its own."""

from collections.abc import Sequence
from importlib import metadata
from typing import Any

from certree.extras.reports.explorer.document import viewer_document
from certree.extras.reports.explorer.templates import asset, embedded, environment
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.checker import verify_schedule

#: the scripts of the view, in the order in which they build on each other
SCRIPTS = ("model.js", "spacetime.js", "network.js", "viewer.js")


def explorer_page(schedule: AnySchedule, used: MadeFor, title: str) -> str:
    """The HTML of the interactive view of a schedule, which loads nothing from elsewhere. Transfers of its first violation, if
    it has one, are framed. Time and memory as the checker; about 30 bytes of HTML for each transfer over
    one channel."""
    document = viewer_document(schedule, used, verify_schedule(schedule))
    return str(
        environment()
        .get_template("explorer_page.html.j2")
        .render(title=title, version=metadata.version("certree"), left_out=document["left_out"], **shown([document]))
    )


def shown(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The values that a template needs for the interactive views of these documents: style, scripts, and data."""
    return {"style": asset("report.css"), "scripts": [asset(name) for name in SCRIPTS], "data": embedded(documents)}
