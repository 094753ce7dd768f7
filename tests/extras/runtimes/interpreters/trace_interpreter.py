"""An interpreter of Chakra traces of a collective that shares nothing with certree: with its own reader of the bytes.

`faults` lists what is wrong with a set of files (rank -> bytes) that state their data; nothing for a right one. Nodes are executed
in the order in which they can start, values are symbolic sums, and two uses of a place must be ordered.
"""

import re
from collections import Counter


class WrongError(Exception):
    """A fault of the files."""


def faults(files):
    try:
        _check([_read(files[rank]) for rank in range(len(files))])
    except (WrongError, KeyError, IndexError, UnicodeDecodeError, TypeError, ValueError) as fault:
        return [f"{type(fault).__name__}: {fault}"]
    return []


def _need(good, words):
    if not good:
        raise WrongError(words)


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def _fields(data):
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 2:
            size, at = _varint(data, at)
            _need(at + size <= len(data), "too short")
            value, at = data[at : at + size], at + size
        else:
            raise WrongError("a kind of field")
        yield key >> 3, value


def _read(data):
    """(attributes of the file, [node]): a node is a dictionary."""
    at, parts = 0, []
    while at < len(data):
        size, at = _varint(data, at)
        _need(at + size <= len(data), "too short")
        parts.append(data[at : at + size])
        at += size
    head, nodes = {}, []
    for number, value in _fields(parts[0]):
        if number == 2:
            head.update([_attribute(value)])
    for part in parts[1:]:
        node = {"id": 0, "waits": [], "type": 0}
        for number, value in _fields(part):
            if number in (1, 3):
                node["id" if number == 1 else "type"] = value
            elif number in (4, 5) and isinstance(value, bytes):
                at = 0
                while at < len(value):
                    one, at = _varint(value, at)
                    node["waits"].append(one)
            elif number in (4, 5):
                node["waits"].append(value)
            elif number == 10:
                node.update([_attribute(value)])
        nodes.append(node)
    return head, nodes


def _attribute(data):
    found = dict(_fields(data))
    value = next(one for number, one in found.items() if number >= 3)
    if isinstance(value, int) and value >= 1 << 63:
        value -= 1 << 64
    return found[1].decode(), value.decode() if isinstance(value, bytes) else value


def _cells(text, rank):
    _need(re.fullmatch(r"[ios]\[\d+\](\+[ios]\[\d+\])*", text), text)
    return [(rank, part[0], int(part[2:-1])) for part in text.split("+")]


def _check(ranks):  # noqa: PLR0915
    n, (head, _) = len(ranks), ranks[0]
    _need(n > 1 and all(one == head for one, _ in ranks), "different heads")
    coll, chunks = head["collective"], head["chunks"]
    members = [int(one) for one in head["members"].split(",")] if "members" in head else list(range(n))
    rows = [[int(one) for one in row.split(",")] for row in head["blocks"].split(";")] if coll == "alltoallv" else []
    whole = coll in ("all-reduce", "broadcast", "alltoallv")
    _need(chunks > 0 and (whole or chunks % len(members) == 0), "chunks")
    k = chunks if whole else chunks // len(members)
    inputs = k if coll == "all-gather" else chunks
    nodes, sends = {}, {}
    for rank, (_, found) in enumerate(ranks):
        for node in found:
            _need((rank, node["id"]) not in nodes, "an id twice")
            nodes[rank, node["id"]] = node
    for (rank, number), node in nodes.items():
        _need(node["type"] in (4, 5, 6), "a type")
        _need(all((rank, other) in nodes for other in node["waits"]), "waits for nothing")
        if node["type"] == 5:
            _need(0 <= node["comm_dst"] < n and node["comm_dst"] != rank, "to nobody")
            _need((rank, node["comm_dst"], node["comm_tag"]) not in sends, "a tag twice")
            sends[rank, node["comm_dst"], node["comm_tag"]] = (rank, number)
    _need(all(0 <= key[2] < 1 << 31 for key in sends), "a tag")
    held = {r: sum(rows[r]) if rows else inputs * (coll != "broadcast" or r == head["root"]) for r in members}
    memory = {(r, "i", c): Counter({(r, c): 1}) for r in members for c in range(held[r])}
    over, sent, uses, taken = {}, {}, {}, set()
    while len(over) < len(nodes):
        ready = [me for me in nodes if me not in over and all((me[0], other) in over for other in nodes[me]["waits"])]
        ready = [me for me in ready if nodes[me]["type"] != 6 or _from(me, nodes[me], sends) in over]
        _need(ready, "deadlock")
        for me in ready:
            rank, node = me[0], nodes[me]
            before = set().union(*({(rank, other)} | over[rank, other] for other in node["waits"]))
            if node["type"] == 5:
                (cell,) = _cells(node["data"], rank)
                sent[me] = (memory.get(cell, Counter({("nothing", cell): 1})), node["comm_size"])
                used = [(cell, False)]
            elif node["type"] == 6:
                sender = _from(me, node, sends)
                _need(sender not in taken, "received twice")
                taken.add(sender)
                before |= {sender} | over[sender]
                (cell,) = _cells(node["data"], rank)
                memory[cell], size = sent[sender]
                _need(size == node["comm_size"] > 0, "bytes")
                used = [(cell, True)]
            else:
                left, right = node["data"].split(">")
                read, (dst,) = _cells(left, rank), _cells(right, rank)
                memory[dst] = sum((memory.get(cell, Counter({("nothing", cell): 1})) for cell in read), Counter())
                used = [*((cell, False) for cell in read if cell != dst), (dst, True)]
            for cell, writes in used:
                _need(not (writes and cell[1] == "i" and cell[2] < inputs), "the input is overwritten")
                for other, wrote in uses.setdefault(cell, []):
                    _need(not (writes or wrote) or other in before, "a race")
            for cell, writes in used:
                uses[cell].append((me, writes))
            over[me] = frozenset(before)
    _need(len(taken) == len(sends), "messages that nobody receives")
    others = members
    for at, rank in enumerate(members):
        due = {
            "all-reduce": [[(other, c) for other in others] for c in range(k)],
            "broadcast": [[(head["root"], c)] for c in range(k)],
            "reduce-scatter": [[(other, at * k + c) for other in others] for c in range(k)],
            "all-gather": [[(other, c)] for other in others for c in range(k)],
            "all-to-all": [[(other, at * k + c)] for other in others for c in range(k)],
            "alltoallv": [[(other, sum(row[:rank]) + c)] for other, row in enumerate(rows) for c in range(row[rank])],
        }[coll]
        for offset, parts in enumerate(due):
            _need(memory.get((rank, "o", offset)) == Counter(parts), f"rank {rank} o[{offset}]")


def _from(me, node, sends):
    return sends.get((node["comm_src"], me[0], node["comm_tag"]))
