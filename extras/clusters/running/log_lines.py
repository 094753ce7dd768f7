"""Statements of single messages in a log of NCCL or RCCL about channels and communicators.

`Channel 00/02 : 0 1 2 3` and, of older versions, `Channel 00 : 0 1 2 3` and `Ring 00 : 0 1 2 3` have a whole ring; `Ring 00 : 3 ->
0 -> 1` has the neighbours of a rank; `Trees [0] 1/-1/-1->0->-1` has the children, the rank and its parent, for each channel. Ranks
are those of the communicator, of which `comm 0x7f10 rank 0 nranks 4 ... commId 0x5d` states the number of ranks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from certree.extras.clusters.running.channels import RING, TREE
from certree.synth.methods.trees.double_binary_tree import ROOT

WHOLE = "whole"
_INFO = re.compile(r"INFO(?=\s|$)")
_HEAD = re.compile(r"(?:([^\s:]+:[0-9]+:[0-9]+ \[[0-9]+\]) (?:NCCL )?|NCCL |^\s*)$")
_LONGEST_HEAD = 400  # characters; what is before it is text of other programs
_BEGINS = re.compile(r"Channel [0-9]{2,4}(?:/[0-9]{1,4})? :\s|Ring [0-9]{1,4} :\s|Trees \[")
_COMM = r"(?:\s+comm \S+ nRanks ([0-9]{1,6})\b.*)?\s*"
_WHOLE = re.compile(r"(?:Channel|Ring) ([0-9]{1,4})(?:/([0-9]{1,4}))? :((?:\s+[0-9]{1,6})+)\s*")
_NEIGHBOURS = re.compile(r"Ring ([0-9]{1,4}) : ([0-9]{1,6}) -> ([0-9]{1,6}) -> ([0-9]{1,6})" + _COMM)
_CONNECTION = re.compile(r"\w+ [0-9/]+ :\s+[0-9]{1,6}(?:\[\S*)?(?: |$)(?:->.*)?")
_TREES = re.compile(r"Trees((?: \[[0-9]{1,4}\] \S+)+)" + _COMM)
_TREE = re.compile(r"\[([0-9]{1,4})\] (\S+)")
_BELOW = r"((?:(?:-1|[0-9]{1,6})/){1,2}(?:-1|[0-9]{1,6}))"
_UPWARDS = re.compile(rf"{_BELOW}->([0-9]{{1,6}})->(-1|[0-9]{{1,6}})")
_DOWNWARDS = re.compile(rf"(-1|[0-9]{{1,6}})->([0-9]{{1,6}})->{_BELOW}")
_MEMBER = re.compile(r"\bcomm (0x[0-9a-fA-F]{1,16}) rank ([0-9]{1,6}) n[rR]anks ([0-9]{1,6})\b")
_IDENTITY = re.compile(r"\bcommId (0x[0-9a-fA-F]{1,16})\b")


@dataclass(frozen=True)
class Message:
    """A message of one process. `source`: its host, process, thread and device, empty where the log has none. `cut`: whether
    another message begins in the same line, so that the end of this one is lost or elsewhere."""

    line: int
    source: str
    text: str
    cut: bool


@dataclass(frozen=True)
class Member:
    """A rank of a communicator that begins, or whose setup is complete. `identity` is the same on all ranks, `address` is not."""

    address: str
    rank: int
    ranks: int
    identity: str | None
    complete: bool


@dataclass(frozen=True)
class Fact:
    """A statement about a channel: of the kind WHOLE a ring, of RING the rank before and after, of TREE parent and children.

    `ranks`, `channels`: how many there are, where the message says so.
    """

    kind: str
    channel: int
    rank: int
    value: tuple[object, ...]
    ranks: int | None = None
    channels: int | None = None


@dataclass(frozen=True)
class Damaged:
    """A message on channels that cannot be read."""

    kind: str


def begins_channels(line: str) -> bool:
    """Whether a line without the name of its process is on channels."""
    return _BEGINS.match(line.strip()) is not None


def messages(lines: Sequence[str]) -> Iterator[Message]:
    """The messages in lines, in which those of several processes can be mixed. Time linear in the text."""
    heads = [_heads(line) for line in lines]
    hosts: dict[str, set[str]] = {}
    for found in heads:
        for _, _, source in found[:1]:
            host, _, process = source.partition(":")
            hosts.setdefault(process, set()).add(host)
    for number, (line, found) in enumerate(zip(lines, heads, strict=True), 1):
        for (_, begin, source), after in zip_longest(found, found[1:]):
            # the end of a message that is cut can stand before the name of the next one's host
            host, colon, process = source.partition(":")
            whole = max((one for one in hosts.get(process, ()) if host.endswith(one)), key=len, default=host)
            yield Message(number, whole + colon + process, line[begin : after and after[0]].strip(), after is not None)
        if not found and begins_channels(line):
            yield Message(number, "", line.strip(), False)


def _heads(line: str) -> list[tuple[int, int, str]]:
    """The messages in a line: where each begins, where its text begins, and its source."""
    found = []
    for info in _INFO.finditer(line):
        first = max(0, info.start() - _LONGEST_HEAD)
        if head := _HEAD.search(line[first : info.start()]):
            found.append((first + head.start(), info.end(), head[1] or ""))
    return found


def stated(message: Message) -> Sequence[Member | Fact | Damaged]:
    """The statements of a message; none if it is not about channels or communicators."""
    text = message.text
    if _BEGINS.match(text) is None:
        found = None if message.cut else _MEMBER.search(text)
        if found is None:
            return ()
        identity = _IDENTITY.search(text)
        return (Member(found[1], int(found[2]), int(found[3]), identity and identity[1], text.endswith("COMPLETE")),)
    if text.startswith("Trees"):
        return _trees(message)
    if match := None if message.cut else _WHOLE.fullmatch(text):
        order = tuple(map(int, match[3].split()))
        return (Fact(WHOLE, int(match[1]), 0, order, len(order), _count(match[2])),)
    if match := None if message.cut else _NEIGHBOURS.fullmatch(text):
        channel, before, rank, after = map(int, match.groups()[:4])
        return (Fact(RING, channel, rank, (before, after), _count(match[5])),)
    return () if text.count("->") == 1 and _CONNECTION.match(text) else (Damaged(RING),)


def _count(text: str | None) -> int | None:
    return None if text is None else int(text)


def _trees(message: Message) -> Sequence[Fact | Damaged]:
    match = None if message.cut else _TREES.fullmatch(message.text)
    found = []
    for channel, text in _TREE.findall(match[1]) if match else ():
        # some versions state a tree up and one down, here only where they are the same
        around = list(dict.fromkeys(map(_around, text.split("|"))))
        if len(around) != 1 or around[0] is None:
            return (Damaged(TREE),)
        parent, rank, below = around[0]
        found.append(Fact(TREE, int(channel), rank, (parent, below), _count(match[2])))  # type: ignore[index]
    return found or (Damaged(TREE),)


def _around(text: str) -> tuple[int, int, tuple[int, ...]] | None:
    """Parent, rank and children."""
    if match := _UPWARDS.fullmatch(text):
        below, rank, parent = match.groups()
    elif match := _DOWNWARDS.fullmatch(text):
        parent, rank, below = match.groups()
    else:
        return None
    return int(parent), int(rank), tuple(sorted(one for one in map(int, below.split("/")) if one != ROOT))
