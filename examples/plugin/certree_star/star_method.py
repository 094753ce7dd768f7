"""The method `star`."""

import certree.api as ct


@ct.method("star", collectives=["all-reduce", "broadcast"])
def star(net, *, collective, root, server=0, **others):
    """All vectors to one server, and the sum back to all. A broadcast starts at its root. Option: server=RANK, of an all-reduce."""
    b = ct.Builder(net, collective)
    if server >= len(b.ranks):
        raise ct.UnsupportedError(f"server={server}; there are {len(b.ranks)} ranks")
    center = b.ranks[server] if root is None else root
    rest = [rank for rank in b.ranks if rank != center]
    if root is None:
        b.reduce(chunk=0, src=rest, dst=center)
    b.copy(chunk=0, src=center, dst=rest)
    return b.schedule()
