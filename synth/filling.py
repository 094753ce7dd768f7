"""Published algorithms on wide links: several copies run at once, each on its part of the message."""

from dataclasses import replace

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.method import Method, Request
from certree.synth.ranks.embedding import channels_that_fill

#: most transfers with which links are filled: routes for more take minutes
MOST_TRANSFERS = 1 << 20


def made_and_options(method: Method, request: Request) -> tuple[AnySchedule, dict[str, str]]:
    """The schedule of a method, and the options that were added to those of the request; exceptions as of the method.

    A published algorithm gets enough channels to fill wide links, or several links into switches, if that makes its closed form
    faster; with small messages it may not. Nothing is added where the request says how many channels there are, or that rounds are
    as published.
    """
    made = method(request)
    added = _filling(method, request)
    if not added or made.transfers * int(added["channels"]) > MOST_TRANSFERS:
        return made, {}
    try:
        filled = method(replace(request, options={**request.options, **added}))
        is_faster = request.rank(filled) < request.rank(made)
    except UnsupportedError:
        return made, {}
    return (filled, added) if is_faster else (made, {})


def _filling(method: Method, request: Request) -> dict[str, str]:
    """The option `channels` that fills links; nothing where the method has none, or its default is to be kept."""
    known = method.options(request) if callable(method.options) else method.options
    channels = channels_that_fill(request.topology)
    keeps = "channels" in request.options or request.options.get("rounds") == "published"
    return {"channels": str(channels)} if method.published and "channels" in known and channels > 1 and not keeps else {}
