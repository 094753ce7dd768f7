"""XML as other tools write it: a ring of fused steps, in place, and all pairs with scratch buffers and several dependencies."""

HEAD = 'proto="Simple" nchannels="1" nchunksperloop="{chunks}" ngpus="{ranks}" coll="{coll}" inplace="{inplace}" {more}'
MORE = 'outofplace="{outofplace}" minBytes="0" maxBytes="0"'


def step(number, kind, src="i:-1", dst="o:-1", count=1, wait=(-1, -1), awaited=0):
    (srcbuf, srcoff), (dstbuf, dstoff) = src.split(":"), dst.split(":")
    places = f'srcbuf="{srcbuf}" srcoff="{srcoff}" dstbuf="{dstbuf}" dstoff="{dstoff}" cnt="{count}"'
    return f'<step s="{number}" type="{kind}" {places} depid="{wait[0]}" deps="{wait[1]}" hasdep="{awaited}"/>'


def algo(gpus, coll="allreduce", *, chunks, inplace=0, outofplace=1):
    """`gpus`: for each rank (scratch chunks, [(send, recv, [steps])])."""
    more = MORE.format(outofplace=outofplace)
    head = HEAD.format(chunks=chunks, ranks=len(gpus), coll=coll, inplace=inplace, more=more)
    lines = [f'<algo name="foreign" {head}>']
    for rank, (scratch, blocks) in enumerate(gpus):
        lines.append(f'<gpu id="{rank}" i_chunks="{chunks}" o_chunks="{chunks}" s_chunks="{scratch}">')
        for number, (send, recv, steps) in enumerate(blocks):
            lines += [f'<tb id="{number}" send="{send}" recv="{recv}" chan="0">', *steps, "</tb>"]
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>"])


def ring(ranks):
    """One thread block for each rank; partial sums are sent on without being stored."""
    gpus = []
    for rank in range(ranks):
        places = [f"i:{(rank - back) % ranks}" for back in range(2 * ranks - 1)]
        kinds = ["s"] + ["rrs"] * (ranks - 2) + ["rrcs"] + ["rcs"] * (ranks - 2) + ["r"]
        steps = [step(at, kind, place, place) for at, (kind, place) in enumerate(zip(kinds, places, strict=True))]
        gpus.append((0, [((rank + 1) % ranks, (rank - 1) % ranks, steps)]))
    return algo(gpus, chunks=ranks, inplace=1, outofplace=0)


def all_pairs(ranks):
    """Every rank sends every other one its part, adds up its own part from scratch, and sends the sum to all."""
    gpus = []
    for rank in range(ranks):
        others = [peer for peer in range(ranks) if peer != rank]
        adds = [step(0, "cpy", f"i:{rank}", f"o:{rank}")]
        adds += [step(at + 1, "nop", wait=(at, 1)) for at in range(ranks - 2)]
        first = len(adds)
        for slot in range(ranks - 1):
            wait = (ranks - 2, 1) if slot == 0 else (-1, -1)
            adds.append(step(first + slot, "re", f"s:{slot}", f"o:{rank}", wait=wait, awaited=int(slot == ranks - 2)))
        last = (ranks - 1, len(adds) - 1)
        blocks = []
        for slot, peer in enumerate(others):
            there = rank - (rank > peer)
            steps = [
                step(0, "s", f"i:{peer}", f"s:{there}"),
                step(1, "r", f"i:{rank}", f"s:{slot}", awaited=1),
                step(2, "s", f"o:{rank}", f"o:{rank}", wait=last),
                step(3, "r", f"o:{peer}", f"o:{peer}"),
            ]
            blocks.append((peer, peer, steps))
        gpus.append((ranks - 1, [*blocks, (-1, -1, adds)]))
    return algo(gpus, chunks=ranks)
