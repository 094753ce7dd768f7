"""An interpreter of MSCCL++ plans (protocol Simple, no loops) that shares nothing with certree.

`faults` lists what is wrong with a file, in words; nothing for a right one. Values are symbolic sums. One block runs after the
other as far as it comes. Orders are a graph between (rank, block, number of the phase between two `nop`): phases of a block in
turn, from the phase before a signal to the phase after the wait for it.
"""

import json
from collections import Counter, defaultdict

OPS, CHANNELS, PER_OP = 64, 16, 8
SIGNALS, WAITS = ("signal", "rlxsignal"), ("wait", "rlxwait")
SWITCH = "switch"


class WrongError(Exception):
    """A fault of the file."""


def faults(text):
    try:
        plan = json.loads(text)
        _Run(plan).check()
    except (WrongError, KeyError, IndexError, TypeError, ValueError) as fault:
        return [f"{type(fault).__name__}: {fault}"]
    return []


def _need(good, words):
    if not good:
        raise WrongError(words)


def _at(values, index):
    _need(type(index) is int and 0 <= index < len(values), f"no number {index}")
    return values[index]


class _Run:
    def __init__(self, plan):
        self.plan, self.gpus, self.coll = plan, plan["gpus"], plan["collective"]
        self.ranks, self.place = len(self.gpus), plan["inplace"]
        _need([gpu["id"] for gpu in self.gpus] == list(range(self.ranks)), "ranks out of order")
        inputs, outputs = ({gpu[name] for gpu in self.gpus} for name in ("input_chunks", "output_chunks"))
        _need(len(inputs) == len(outputs) == 1, "ranks of different sizes")
        (self.inputs,), (self.outputs,) = inputs, outputs
        self.members = plan.get("members", list(range(self.ranks)))
        self.rows = [gpu.get("blocks") for gpu in self.gpus]
        if self.coll == "alltoallv":
            most = max(map(sum, self.rows)), max(sum(row[r] for row in self.rows) for r in range(self.ranks))
            _need((self.inputs, self.outputs) == most, "sizes")
            return
        n = len(self.members)
        expected = {
            "allreduce": self.inputs == self.outputs,
            "alltoall": self.inputs == self.outputs and self.inputs % n == 0,
            "allgather": self.outputs == n * self.inputs,
            "reducescatter": self.inputs == n * self.outputs,
        }
        _need(self.inputs > 0 and self.outputs > 0 and expected[self.coll], "sizes")

    def cell(self, rank, buffer, offset):
        if rank not in self.members:
            return rank, buffer, offset
        if self.place and buffer == "i" and self.coll in ("allreduce", "alltoall"):
            return rank, "o", offset
        if self.place and buffer == "i" and self.coll == "allgather":
            return rank, "o", self.members.index(rank) * self.inputs + offset
        if self.place and buffer == "o" and self.coll == "reducescatter":
            return rank, "i", self.members.index(rank) * self.outputs + offset
        return rank, buffer, offset

    def check(self):
        self.read_channels()
        held = {r: sum(self.rows[r]) if self.coll == "alltoallv" else self.inputs for r in self.members}
        self.memory = {self.cell(r, "i", c): Counter({(r, c): 1}) for r in self.members for c in range(held[r])}
        self.signals, self.uses, self.before = defaultdict(list), defaultdict(list), defaultdict(set)
        self.phase, self.far = defaultdict(int), []
        self.there, self.passed = defaultdict(set), set()
        self.blocks = {(r, at): block["ops"] for r, gpu in enumerate(self.gpus) for at, block in enumerate(gpu["threadblocks"])}
        done = dict.fromkeys(self.blocks, 0)
        moved = True
        while moved:
            moved = False
            for me, ops in self.blocks.items():
                while done[me] < len(ops) and self.execute(me, ops[done[me]]):
                    done[me] += 1
                    moved = True
        _need(all(done[me] == len(ops) for me, ops in self.blocks.items()), "deadlock")
        _need(not any(self.signals.values()), "signals that nobody waits for")
        self.check_orders()
        for rank in self.members:
            for offset, due in enumerate(self.due(rank)):
                held = self.memory.get(self.cell(rank, "o", offset))
                _need(held == Counter(due), f"rank {rank} o[{offset}] holds {held}")

    def due(self, rank):
        others, i, o = self.members, self.inputs, self.outputs
        if self.coll == "alltoallv":
            return [[(other, sum(self.rows[other][:rank]) + c)] for other in others for c in range(self.rows[other][rank])]
        at = others.index(rank)
        return {
            "allreduce": [[(other, c) for other in others] for c in range(o)],
            "reducescatter": [[(other, at * o + c) for other in others] for c in range(o)],
            "allgather": [[(other, c)] for other in others for c in range(i)],
            "alltoall": [[(other, at * (o // len(others)) + c)] for other in others for c in range(o // len(others))],
        }[self.coll]

    def read_channels(self):
        """The channels of each block as (peer, which of several), and its remote buffers as (rank, buffer)."""
        self.ends, self.remote, self.groups, users = {}, {}, {}, {}
        for r, gpu in enumerate(self.gpus):
            _need([block["id"] for block in gpu["threadblocks"]] == list(range(len(gpu["threadblocks"]))), "blocks out of order")
            peers = [peer for channel in gpu["channels"] if channel["channel_type"] != SWITCH for peer in channel["connected_to"]]
            groups = self.read_groups(r, gpu)
            for peer in peers:
                _need(0 <= peer < self.ranks and peer != r, "a channel to nobody")
            named = [(peer, peers[:at].count(peer)) for at, peer in enumerate(peers)]
            for entry in gpu["remote_buffers"]:
                _need(0 <= entry["rank"] < self.ranks and entry["type"] in "ios", "a remote buffer of nobody")
            for at, block in enumerate(gpu["threadblocks"]):
                ids = {True: [], False: []}
                for channel in block["channels"]:
                    ids[channel["channel_type"] == SWITCH] += channel["channel_ids"]
                self.ends[r, at] = [_at(named, number) for number in ids[False]]
                self.groups[r, at] = [_at(groups, number) for number in ids[True]]
                _need(len(set(self.ends[r, at])) <= CHANNELS and len(block["ops"]) <= OPS, "too many")
                refs = [number for ref in block["remote_buffer_refs"] for number in ref["remote_buffer_ids"]]
                self.remote[r, at] = [
                    (_at(gpu["remote_buffers"], number)["rank"], gpu["remote_buffers"][number]["type"]) for number in refs
                ]
                for op in block["ops"]:
                    side = "s" if op["name"] in SIGNALS else "w" if op["name"] in WAITS else ""
                    for number in op.get("channel_ids", ()) if side else ():
                        end = (r, side, _at(self.ends[r, at], number))
                        _need(users.setdefault(end, at) == at, "two blocks on one channel")

    def read_groups(self, rank, gpu):
        """(buffer, ranks) of each switch channel of a rank."""
        found = []
        for channel in gpu["channels"]:
            for group in channel["rank_groups"] if channel["channel_type"] == SWITCH else ():
                ranks = group["ranks"]
                _need(group["size"] == len(ranks) == len(set(ranks)) and rank in ranks, "a group of other ranks")
                _need(set(ranks) <= set(range(self.ranks)) and channel["buffer_type"] in "ios", "a group of nobody")
                found.append((channel["buffer_type"], ranks))
        return found

    def same_places(self, me, span):
        """The cells of a span of a switch, of each rank of its group."""
        buffer, ranks = _at(self.groups[me], span["switch_channel_id"])
        place = {"type": buffer, "index": span["index"], "size": span["size"]}
        return [self.cells((rank, 0), place) for rank in ranks]

    def cells(self, me, span):
        rank, buffer = (me[0], span["type"]) if "type" in span else _at(self.remote[me], span["buffer_id"])
        size = self.gpus[rank][{"i": "input_chunks", "o": "output_chunks", "s": "scratch_chunks"}[buffer]]
        _need(span["index"] >= 0 and span["size"] > 0 and span["index"] + span["size"] <= size, "beyond a buffer")
        return [self.cell(rank, buffer, span["index"] + c) for c in range(span["size"])]

    def execute(self, me, op):
        name, now = op["name"], (*me, self.phase[me])
        if name in SIGNALS or name in WAITS:
            _need(0 < len(op["channel_ids"]) <= PER_OP and op["channel_type"] == "memory", "channels")
            ends = [_at(self.ends[me], number) for number in op["channel_ids"]]
        if name in WAITS:
            keys = [(peer, me[0], which) for peer, which in ends]
            if any(len(self.signals[key]) < keys.count(key) for key in keys):
                return False
            for key in keys:
                self.before[(*me, self.phase[me] + 1)].add(self.signals[key].pop(0))
        elif name in SIGNALS:
            for peer, which in ends:
                self.signals[me[0], peer, which].append((*now, "known"))
        elif name == "nop":
            self.before[(*me, self.phase[me] + 1)].add(now)
            self.phase[me] += 1
        elif name in ("put", "copy"):
            _need(len(op["src_buff"]) == len(op["dst_buff"]) > 0, "sources and targets")
            _need(name == "copy" or len({one["type"] for one in op["src_buff"]}) == 1, "several buffers")
            for one, other in zip(op["src_buff"], op["dst_buff"], strict=True):
                src, dst = self.cells(me, one), self.cells(me, other)
                _need(len(src) == len(dst), "sizes")
                self.move(now, [src], [dst])
        elif name in ("re", "res", "rre", "rres"):
            spans = [[self.cells(me, one) for one in op[side]] for side in ("src_buff", "dst_buff")]
            _need(spans[0] and spans[1] and len({len(cells) for side in spans for cells in side}) == 1, "sizes")
            self.move(now, *spans)
        elif name in ("glres", "gstore"):
            ((src,), (dst,)) = op["src_buff"], op["dst_buff"]
            sources = [self.cells(me, src)] if name == "gstore" else self.same_places(me, src)
            _need(op["channel_type"] == SWITCH and src["size"] == dst["size"], "no switch, or sizes")
            self.move(now, sources, self.same_places(me, dst))
        elif name == "barrier":
            return self.meet(me, op)
        else:
            raise WrongError(f"unknown {name}")
        _need(max(len(op.get(side, ())) for side in ("src_buff", "dst_buff")) <= 10, "too many buffers")
        return True

    def meet(self, me, op):
        """Wait for the other blocks at a barrier; what any of them knows, all know from then on."""
        there = self.there[me[0], op["barrier_id"]]
        if me not in self.passed:
            there.add(me)
            if len(there) < op["num_threadblocks"]:
                return False
            known = set()
            for one in there:
                known |= {(*one, self.phase[one])} | self.before[(*one, self.phase[one] + 1)]
            for one in there:
                self.before[(*one, self.phase[one] + 1)] |= known
            self.passed |= there
            there.clear()
        self.passed.remove(me)
        self.phase[me] += 1
        return True

    def move(self, now, sources, targets):
        self.op = getattr(self, "op", 0) + 1
        for at in range(len(targets[0])):
            read, written = [cells[at] for cells in sources], [cells[at] for cells in targets]
            total = Counter()
            for cell in read:
                total += self.memory.get(cell, Counter({("nothing", cell): 1}))
                self.uses[cell].append((now, self.op, False))
            for cell in written:
                self.memory[cell] = total
                self.uses[cell].append((now, self.op, True))
                _need(self.place or cell[1] != "i", "the input is overwritten")
            self.far += [(now, cell[0]) for cell in (*read, *written) if cell[0] != now[0]]

    def over(self, phase):
        """All phases that are over before this one."""
        if phase not in self.known:
            found = {(*phase[:2], -1)}
            for one in self.before[phase]:
                if len(one) == 4:  # a signal: what was over when it was given
                    found |= self.over(one[:3])
                    continue
                for number in range(one[2] + 1):
                    found.add((*one[:2], number))
                found |= self.over(one)
            if phase[2] > 0:
                found |= self.over((*phase[:2], phase[2] - 1))
            self.known[phase] = found
        return self.known[phase]

    def check_orders(self):
        self.known = {}
        for cell, uses in self.uses.items():
            for number, (later, op, writes) in enumerate(uses):
                for earlier, other, wrote in uses[:number]:
                    _need(not (writes or wrote) or op == other or earlier in self.over(later), f"a race at {cell}")
        for now, rank in self.far:
            _need(any(one[0] == rank for one in self.over(now)), "a rank that may not have started")
            ends = set().union(
                *(self.over((*me, self.phase[me] + 1)) | {(*me, self.phase[me])} for me in self.blocks if me[0] == rank)
            )
            _need(now in ends, "a rank that may have ended")
