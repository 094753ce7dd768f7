"""An interpreter of MSCCL XML that shares nothing with certree: written from a description of the format.

`faults` lists what is wrong with a file, in words; nothing for a right one. Values are symbolic sums. The order of steps is a
graph: thread blocks in their order, dependencies, and messages, first in, first out.
"""

import xml.etree.ElementTree as ET
from collections import Counter, defaultdict

STEPS, NODES, COUNT, CHANNELS = 64, 4096, 72, 32
ALGO = ("proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace", "minBytes", "maxBytes")
GPU = ("id", "i_chunks", "o_chunks", "s_chunks")
TB = ("id", "send", "recv", "chan")
STEP = ("s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep")
SENDS, RECEIVES = ("s", "rcs", "rrs", "rrcs"), ("r", "rcs", "rrs", "rrc", "rrcs")
READS_SRC, WRITES_DST = ("s", "rrc", "rrs", "rrcs", "cpy", "re"), ("r", "rcs", "rrc", "rrcs", "cpy", "re")
READS_DST = ("re",)


class WrongError(Exception):
    """A fault of the file."""


def faults(text):
    try:
        algo = ET.fromstring(text)
        gpus = _read(algo)
        for in_place in [flag for flag, name in ((False, "outofplace"), (True, "inplace")) if algo.get(name) == "1"]:
            _Run(algo, gpus, in_place).check()
    except (WrongError, ET.ParseError) as fault:
        return [str(fault)]
    return []


def _need(good, words):
    if not good:
        raise WrongError(words)


def _numbers(element, names):
    for name in names:
        _need(name in element.attrib, f"{element.tag} lacks {name}")
    texts = ("type", "srcbuf", "dstbuf", "proto", "coll")
    try:
        return {name: element.get(name) if name in texts else int(element.get(name)) for name in names}
    except ValueError as fault:
        raise WrongError(str(fault)) from None


def _read(algo):
    """For each rank (sizes, thread blocks); a thread block is (ends, steps)."""
    head = _numbers(algo, ALGO)
    _need(head["nchannels"] <= CHANNELS, "too many channels")
    ranks = head["ngpus"]
    gpus = {}
    for gpu in algo:
        sizes = _numbers(gpu, GPU)
        _need(min(sizes.values()) >= 0, "a buffer of negative size")
        blocks = {}
        for tb in gpu:
            ends = _numbers(tb, TB)
            _need(sizes["id"] not in (ends["send"], ends["recv"]), "a thread block with itself as its peer")
            _need(all(-1 <= ends[side] < ranks for side in ("send", "recv")), "a peer that is not a rank")
            _need(0 <= ends["chan"] < head["nchannels"], "a channel that does not exist")
            steps = [_numbers(step, STEP) for step in tb]
            _need([step["s"] for step in steps] == list(range(len(steps))), "steps out of order")
            for step, after in zip(steps, [*steps[1:], {"depid": -1}], strict=False):
                _need(step["type"] != "nop" or step["depid"] < 0 or after["depid"] >= 0, "a wait that the executor drops")
            _need(len(steps) <= STEPS, "too many steps")
            blocks[ends["id"]] = (ends, steps)
        _need(sorted(blocks) == list(range(len(gpu))), "thread blocks are not 0, 1, 2, ...")
        for side in ("send", "recv"):
            used = Counter((ends[side], ends["chan"]) for ends, _ in blocks.values() if ends[side] >= 0)
            _need(all(count == 1 for count in used.values()), "two thread blocks on one connection")
        own = 1 + ranks + sum(1 + len(steps) for _, steps in blocks.values())
        _need(own <= NODES, "too many nodes")
        gpus[sizes["id"]] = (sizes, [blocks[at] for at in range(len(blocks))])
    _need(sorted(gpus) == list(range(ranks)), "gpus are not 0, 1, 2, ...")
    for sizes, blocks in gpus.values():
        for ends, steps in blocks:
            for step in steps:
                _check_step(step, ends, sizes, blocks)
    return [gpus[rank] for rank in range(ranks)]


def _check_step(step, ends, sizes, blocks):
    kind = step["type"]
    _need(kind in {*SENDS, *RECEIVES, "cpy", "re", "nop"}, "unknown type")
    _need(0 < step["cnt"] < COUNT, "a count that is not allowed")
    _need(step["hasdep"] in (0, 1), "hasdep is no flag")
    _need(kind not in SENDS or ends["send"] >= 0, "a send without a peer")
    _need(kind not in RECEIVES or ends["recv"] >= 0, "a receive without a peer")
    for side, used in (("src", kind in READS_SRC), ("dst", kind in WRITES_DST)):
        if used:
            _need(step[f"{side}buf"] in "ios", "unknown buffer")
            size = sizes[f"{step[f'{side}buf']}_chunks"]
            _need(0 <= step[f"{side}off"] <= size - step["cnt"], "an offset beyond the buffer")
    if step["depid"] >= 0:
        _need(step["depid"] < len(blocks) and 0 <= step["deps"] < len(blocks[step["depid"]][1]), "a dependency on nothing")
        target = blocks[step["depid"]][1][step["deps"]]
        _need(target["hasdep"] == 1, "a dependency on a step without hasdep")


class _Run:
    """One execution; `check` raises WrongError."""

    def __init__(self, algo, gpus, in_place):
        self.gpus, self.in_place, self.coll = gpus, in_place, algo.get("coll")
        self.ranks, self.chunks = len(gpus), int(algo.get("nchunksperloop"))
        many = self.coll in ("allgather", "reducescatter", "alltoall")
        self.members = [int(one) for one in algo.get("members").split(",")] if "members" in algo.attrib else list(range(self.ranks))
        _need(not many or self.chunks % len(self.members) == 0, "blocks of unequal size")
        self.block = self.chunks // len(self.members) if many else self.chunks
        if self.coll == "alltoallv":
            self.rows = {int(gpu.get("id")): [int(one) for one in gpu.get("blocks").split(",")] for gpu in algo}

    def cell(self, rank, buffer, offset):
        """In place, one name for what is one chunk of memory."""
        if rank not in self.members:
            return rank, buffer, offset
        if self.in_place and buffer == "i" and self.coll in ("allreduce", "alltoall"):
            return rank, "o", offset
        if self.in_place and buffer == "i" and self.coll == "allgather":
            return rank, "o", self.members.index(rank) * self.block + offset
        if self.in_place and buffer == "o" and self.coll == "reducescatter":
            return rank, "i", self.members.index(rank) * self.block + offset
        return rank, buffer, offset

    def check(self):
        inputs = self.block if self.coll == "allgather" else self.chunks
        held = {r: sum(self.rows[r]) if self.coll == "alltoallv" else inputs for r in self.members}
        self.memory = {self.cell(r, "i", c): Counter({(r, c): 1}) for r in self.members for c in range(held[r])}
        self.queues, self.before, self.uses = defaultdict(list), {}, defaultdict(list)
        done = {(rank, at): 0 for rank in range(self.ranks) for at in range(len(self.gpus[rank][1]))}
        moved = True
        while moved:
            moved = False
            for (rank, at), start in list(done.items()):
                steps = self.gpus[rank][1][at][1]
                for index in range(start, len(steps)):
                    if not self.can_start(rank, at, steps[index], done):
                        break
                    self.execute(rank, at, index, steps[index])
                    done[rank, at] = index + 1
                    moved = True
        _need(all(done[rank, at] == len(self.gpus[rank][1][at][1]) for rank, at in done), "deadlock")
        _need(not any(self.queues.values()), "messages that nobody receives")
        self.check_races()
        for rank in self.members:
            for offset, due in enumerate(self.due(rank)):
                held = self.memory.get(self.cell(rank, "o", offset))
                _need(held == Counter(due), f"rank {rank} o[{offset}] holds {held}")

    def due(self, rank):
        others, k = self.members, self.block
        if self.coll == "alltoallv":
            return [[(other, sum(self.rows[other][:rank]) + c)] for other in others for c in range(self.rows[other][rank])]
        at = others.index(rank)
        if self.coll == "allreduce":
            return [[(other, c) for other in others] for c in range(k)]
        if self.coll == "reducescatter":
            return [[(other, at * k + c) for other in others] for c in range(k)]
        if self.coll == "allgather":
            return [[(other, c)] for other in others for c in range(k)]
        return [[(other, at * k + c)] for other in others for c in range(k)]

    def can_start(self, rank, at, step, done):
        ends = self.gpus[rank][1][at][0]
        if step["depid"] >= 0 and done[rank, step["depid"]] <= step["deps"]:
            return False
        return step["type"] not in RECEIVES or bool(self.queues[ends["recv"], rank, ends["chan"]])

    def execute(self, rank, at, index, step):
        kind, ends = step["type"], self.gpus[rank][1][at][0]
        earlier = {(rank, at, index - 1)} if index else set()
        if step["depid"] >= 0:
            earlier.add((rank, step["depid"], step["deps"]))
        incoming = [None] * step["cnt"]
        if kind in RECEIVES:
            incoming, sender = self.queues[ends["recv"], rank, ends["chan"]].pop(0)
            earlier.add(sender)
            _need(len(incoming) == step["cnt"], "a message of another length")
        me = (rank, at, index)
        self.before[me] = frozenset(earlier)
        out = []
        for c in range(step["cnt"]):
            src = self.cell(rank, step["srcbuf"], step["srcoff"] + c)
            dst = self.cell(rank, step["dstbuf"], step["dstoff"] + c)
            if kind == "nop" or (kind == "cpy" and src == dst):
                continue
            for cell, used, writes in (
                (src, kind in READS_SRC, False),
                (dst, kind in READS_DST, False),
                (dst, kind in WRITES_DST, True),
            ):
                if used:
                    self.uses[cell].append((me, writes))
            value = self.value(kind, src, dst, incoming[c])
            if kind in WRITES_DST:
                self.memory[dst] = value
            out.append(value)
        if kind in SENDS:
            self.queues[rank, ends["send"], ends["chan"]].append((out, me))

    def value(self, kind, src, dst, incoming):
        if kind in ("s", "cpy"):
            return self.load(src)
        if kind in ("r", "rcs"):
            return incoming
        if kind == "re":
            return self.load(dst) + self.load(src)
        return self.load(src) + incoming

    def load(self, cell):
        return self.memory.get(cell, Counter({("nothing", cell): 1}))

    def check_races(self):
        over = {}
        for step in self.before:  # steps were executed in an order that respects `before`
            over[step] = set().union(*({earlier} | over[earlier] for earlier in self.before[step]))
        for cell, uses in self.uses.items():
            for number, (later, writes) in enumerate(uses):
                for earlier, wrote in uses[:number]:
                    if (writes or wrote) and earlier != later:
                        _need(earlier in over[later], f"a race at {cell}: {earlier} and {later}")
