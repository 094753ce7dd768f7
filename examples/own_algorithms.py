"""Ten algorithms of the literature as Python functions: each equals the method of certree transfer by transfer."""

import certree.api as ct


def require_power_of_two(ranks):
    """An error that says that the algorithm does not cover a network: it is left out of comparisons there."""
    if len(ranks) & (len(ranks) - 1):
        raise ct.UnsupportedError(f"a power of two of ranks is needed; there are {len(ranks)}")


@ct.method("own-ring", collectives=["all-reduce"])
def ring(net, *, chunks, **options):
    """Chunks travel round a ring, first added up and then copied (Patarasuk and Yuan 2009)."""
    b = ct.Builder(net, "all-reduce", chunks=chunks)
    n = len(b.ranks)
    for step in range(2 * n - 2):
        for chunk in range(n):
            at = (chunk + 1 + step) % n
            write = b.reduce if step < n - 1 else b.copy
            write(chunk=chunk, src=at, dst=(at + 1) % n, step=step)
    return b.schedule()


@ct.method("own-ring-both-ways", collectives=["all-reduce"])
def ring_both_ways(net, **options):
    """Two rings, each on half of the message, in opposite directions."""
    b = ct.Builder(net, "all-reduce")
    n = len(b.ranks)
    for step in range(2 * n - 2):
        write = b.reduce if step < n - 1 else b.copy
        for chunk in range(n):
            at, mirrored = (chunk + 1 + step) % n, (chunk - 1 - step) % n
            write(chunk=chunk, src=at, dst=(at + 1) % n, step=step)
            write(chunk=n + chunk, src=mirrored, dst=(mirrored - 1) % n, step=step)
    return b.schedule()


@ct.method("own-recursive-doubling", collectives=["all-reduce"])
def recursive_doubling(net, **options):
    """Partners at distance 1, 2, 4, ... exchange whole vectors (Thakur, Rabenseifner and Gropp 2005)."""
    b = ct.Builder(net, "all-reduce")
    require_power_of_two(b.ranks)
    for step in range(len(b.ranks).bit_length() - 1):
        b.reduce(chunk=0, src=b.ranks, dst=[rank ^ 1 << step for rank in b.ranks], step=step)
    return b.schedule()


@ct.method("own-doubling-gather", collectives=["all-gather"])
def doubling_gather(net, **options):
    """Partners at distance 1, 2, 4, ... exchange all that they hold (Thakur, Rabenseifner and Gropp 2005)."""
    b = ct.Builder(net, "all-gather")
    require_power_of_two(b.ranks)
    for step in range(len(b.ranks).bit_length() - 1):
        for rank in b.ranks:
            held = [chunk for chunk in b.ranks if chunk >> step == rank >> step]
            b.send(chunk=held, src=rank, dst=rank ^ 1 << step, step=step)
    return b.schedule()


@ct.method("own-halving-doubling", collectives=["all-reduce"])
def halving_doubling(net, **options):
    """Partners exchange half of what is left, then a quarter, and back (Thakur, Rabenseifner and Gropp 2005)."""
    b = ct.Builder(net, "all-reduce")
    require_power_of_two(b.ranks)
    bits = len(b.ranks).bit_length() - 1
    for bit in range(bits):
        for rank in b.ranks:
            partner = rank ^ 1 << bit
            alike = [chunk for chunk in b.ranks if (chunk ^ partner) % (2 << bit) == 0]
            b.reduce(chunk=alike, src=rank, dst=partner, step=bit)
            b.copy(chunk=alike, src=partner, dst=rank, step=2 * bits - 1 - bit)
    return b.schedule()


@ct.method("own-servers", collectives=["all-reduce"])
def servers(net, **options):
    """Every rank adds up one share of the vector (GenTree, Fig. 1b)."""
    b = ct.Builder(net, "all-reduce")
    for share in b.ranks:
        others = [rank for rank in b.ranks if rank != share]
        b.reduce(chunk=share, src=others, dst=share, step=0)
        b.copy(chunk=share, src=share, dst=others, step=1)
    return b.schedule()


@ct.method("own-reduce-broadcast", collectives=["all-reduce"])
def reduce_broadcast(net, *, server=0, **options):
    """All vectors to one server, and the sum back to all (GenTree, Fig. 1a)."""
    b = ct.Builder(net, "all-reduce")
    others = [rank for rank in b.ranks if rank != server]
    sums = b.reduce(chunk=0, src=others, dst=server, step=0)
    b.copy(chunk=0, src=server, dst=others, after=sums)
    return b.schedule()


@ct.method("own-binomial", collectives=["broadcast"])
def binomial(net, *, root, **options):
    """The ranks that have the message double in each step (Thakur, Rabenseifner and Gropp 2005)."""
    b = ct.Builder(net, "broadcast", root=root)
    n = len(b.ranks)
    bits = (n - 1).bit_length()
    for step in range(bits):
        reach = 1 << (bits - 1 - step)
        for place in range(0, n - reach, 2 * reach):
            b.send(chunk=0, src=(root + place) % n, dst=(root + place + reach) % n, step=step)
    return b.schedule()


@ct.method("own-by-distance", collectives=["all-to-all"])
def by_distance(net, **options):
    """In step s every rank sends to the one s + 1 places on (switch-fc, Fig. 5)."""
    b = ct.Builder(net, "all-to-all")
    n = len(b.ranks)
    for distance in range(1, n):
        for src in b.ranks:
            dst = (src + distance) % n
            b.send(chunk=src * (n - 1) + dst - (dst > src), src=src, dst=dst, step=distance - 1)
    return b.schedule()


@ct.method("own-hop-by-hop", collectives=["all-to-all"])
def hop_by_hop(net, **options):
    """Messages to distance 1, then 2, ... round a ring, one hop in each step (ACE, Section 5)."""
    b = ct.Builder(net, "all-to-all")
    n, first = len(b.ranks), 0
    for distance in range(1, n):
        for src in b.ranks:
            dst = (src + distance) % n
            for hop in range(distance):
                at = (src + hop) % n
                b.send(chunk=src * (n - 1) + dst - (dst > src), src=at, dst=(at + 1) % n, step=first + hop)
        first += distance
    return b.schedule()


PAIRS = [  # network, collective, root, own method, method of certree, its options
    ("ring:6", "all-reduce", None, "own-ring", "ring", {}),
    ("ring:6", "all-reduce", None, "own-ring-both-ways", "ring", {"bidirectional": True}),
    ("torus:4x4", "all-reduce", None, "own-recursive-doubling", "recursive-doubling", {}),
    ("switch:8", "all-gather", None, "own-doubling-gather", "recursive-doubling", {}),
    ("fattree:4x4", "all-reduce", None, "own-halving-doubling", "halving-doubling", {}),
    ("torus:3x3", "all-reduce", None, "own-servers", "cps", {}),
    ("mesh:2x3", "all-reduce", None, "own-reduce-broadcast", "reduce-broadcast", {}),
    ("switch:7", "broadcast", 2, "own-binomial", "binomial", {}),
    ("switch:6", "all-to-all", None, "own-by-distance", "direct", {"steps": "by-distance"}),
    ("ring:5", "all-to-all", None, "own-hop-by-hop", "ring-all-to-all", {}),
]
for network, collective, root, own, known, options in PAIRS:
    mine = ct.synthesize(network, collective, root=root, method=own, size="64KiB")
    theirs = ct.synthesize(network, collective, root=root, method=known, options=options, size="64KiB")
    print(f"{own} on {network}: {mine.transfers} transfers, {'equal to' if mine.digest == theirs.digest else 'other than'} {known}")
ct.draw(ct.synthesize("ring:6", method="own-ring-both-ways", size="64KiB"), "both-ways.svg", view="spacetime", force=True)
