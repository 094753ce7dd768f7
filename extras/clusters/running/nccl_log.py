"""The lines of a log of NCCL or RCCL (NCCL_DEBUG=INFO) that say which rings and trees it found.

`Channel 00/02 : 0 1 2 3` and, of older versions, `Ring 00 : 0 1 2 3` have a whole ring; `Ring 00 : 3 -> 0 -> 1`
has the neighbours of a rank; `Trees [0] 1/-1/-1->0->-1` has the children, the rank and its parent, for each
channel. Ranks are those of the communicator.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from certree.extras.clusters.imports.texts import decoded, lines_of
from certree.extras.clusters.running.channels import MAX_CHANNELS, RING, TREE, Channels, require_ring, require_tree
from certree.models.common.errors import InputError, short
from certree.models.common.files import Opened
from certree.synth.methods.trees.double_binary_tree import ROOT

MAX_RANKS = 1 << 16
_BEGINS = re.compile(r"(?:^\s*|INFO\s+)((?:Channel [0-9]{2,4}/[0-9]{1,4} :\s|Ring [0-9]{1,4} :\s|Trees \[).*)")
_COMM = r"(?:\s+comm \S+ nRanks ([0-9]{1,6})\b.*)?\s*"
_WHOLE = re.compile(r"(?:Channel|Ring) ([0-9]{1,4})(?:/([0-9]{1,4}))? :((?:\s+[0-9]{1,6}){2,})\s*")
_NEIGHBOURS = re.compile(r"Ring ([0-9]{1,4}) : ([0-9]{1,6}) -> ([0-9]{1,6}) -> ([0-9]{1,6})" + _COMM)
_TREES = re.compile(r"Trees((?: \[[0-9]{1,4}\] \S+)+)" + _COMM)
_TREE = re.compile(r"\[([0-9]{1,4})\] (\S+)")
_BELOW = r"((?:(?:-1|[0-9]{1,6})/){1,2}(?:-1|[0-9]{1,6}))"
_UPWARDS = re.compile(rf"{_BELOW}->([0-9]{{1,6}})->(-1|[0-9]{{1,6}})")
_DOWNWARDS = re.compile(rf"(-1|[0-9]{{1,6}})->([0-9]{{1,6}})->{_BELOW}")
_CONNECTION = re.compile(r"\w+ [0-9/]+ : [0-9]{1,6}(?:\[\S*\])? -> [0-9]{1,6}(?:\[\S*\])?.* via .*")
_FROM = "NCCL INFO"

#: (parent, rank, children) of one rank in a tree
Around = tuple[int, int, tuple[int, ...]]


def has_channels(start: bytes) -> bool:
    """Whether a file begins as a log of NCCL, or with lines that have channels."""
    text = decoded(start, "replace")
    return _FROM in text or any(_BEGINS.match(line) for line in lines_of(text))


def read_log(opened: Opened, endpoints: int | None) -> Channels:
    """The channels that the lines state; InputError names a line that is damaged or contradicts another, and ranks without one."""
    lines = lines_of(decoded(opened.data(), "replace"))
    wholes = [match for line in lines if (begin := _BEGINS.search(line)) and (match := _WHOLE.fullmatch(begin[1]))]
    sizes = sorted({len(match[3].split()) for match in wholes})
    several = f"the log is of communicators of {' and '.join(map(str, sizes))} ranks" if len(sizes) > 1 else ""
    if several and endpoints not in sizes:
        raise InputError(
            f"{opened}: {several}; {'give the network of one' if endpoints is None else f'the network has {endpoints} endpoints'}"
        )
    log = _Log(str(opened), endpoints if several else None)
    for number, line in enumerate(lines, 1):
        log.add(number, line)
    found = log.channels()
    return replace(found, missing=dict.fromkeys(found.missing, several)) if several else found


@dataclass
class _Log:
    """What lines state: by kind, channel and rank a fact, and its line."""

    where: str
    only: (
        int | None
    )  # of several communicators the one with this number of ranks; only lines with whole rings say of which they are
    facts: defaultdict[tuple[str, int], dict[int, tuple[object, int]]] = field(default_factory=lambda: defaultdict(dict))
    counts: dict[str, int] = field(default_factory=dict)  # channels and ranks, where lines state them

    def add(self, number: int, line: str) -> None:
        """Take what a line states; other lines of a log state nothing of channels."""
        begin = _BEGINS.search(line)
        text = begin[1] if begin else ""
        if match := _WHOLE.fullmatch(text):
            order = tuple(map(int, match[3].split()))
            if self.only not in (None, len(order)):
                return
            self._once("whole", match[1], 0, order, number)
            self._count("ranks", str(len(order)), number)
            self._count("channels", match[2], number)
        elif self.only is not None:
            return
        elif match := _NEIGHBOURS.fullmatch(text):
            self._once(RING, match[1], int(match[3]), (int(match[2]), int(match[4])), number)
            self._count("ranks", match[5], number)
        elif match := _TREES.fullmatch(text):
            for channel, tree in _TREE.findall(match[1]):
                parent, rank, below = self._tree(tree, number)
                self._once(TREE, channel, rank, (parent, below), number)
            self._count("ranks", match[2], number)
        elif text and not _CONNECTION.fullmatch(text):
            self._fail(number, text)

    def _tree(self, text: str, number: int) -> Around:
        """A tree around a rank; some versions state one up and one down, here only where they are the same."""
        found = list(dict.fromkeys(map(_around, text.split("|"))))
        if len(found) != 1 or found[0] is None:
            self._fail(number, text)
        assert found[0] is not None
        return found[0]

    def _fail(self, number: int, text: str) -> None:
        expected = "'Channel 00/02 : 0 1 2 3', 'Ring 00 : 3 -> 0 -> 1' or 'Trees [0] 1/-1/-1->0->-1'"
        raise InputError(f"{self.where}: line {number}: {short(text)} is cut or damaged; expected such as {expected}")

    def _once(self, kind: str, channel: str, rank: int, fact: object, number: int) -> None:
        facts = self.facts[kind, int(channel)]
        known, line = facts.setdefault(rank, (fact, number))
        if known != fact:
            raise InputError(
                f"{self.where}: lines {line} and {number} state different things of channel {int(channel)}: the log is of several"
                " communicators; give the lines of one"
            )
        if int(channel) >= MAX_CHANNELS or rank >= MAX_RANKS:
            raise InputError(f"{self.where}: line {number}: channel {channel} of rank {rank}; allowed: below {MAX_CHANNELS}")

    def _count(self, what: str, text: str | None, number: int) -> None:
        if text is not None and self.counts.setdefault(what, int(text)) != int(text):
            raise InputError(f"{self.where}: line {number}: {int(text)} {what}; lines before it have {self.counts[what]}")

    def channels(self) -> Channels:
        """All channels, where every rank has its line."""
        if not self.facts:
            raise InputError(f"{self.where}: no lines on channels, such as 'Channel 00/02 : 0 1 2 3'; give NCCL_DEBUG=INFO to NCCL")
        named = [rank for (kind, _), facts in self.facts.items() if kind != "whole" for rank in facts]
        ranks = self.counts.get("ranks", max(named, default=0) + 1)
        if max(named, default=0) >= ranks:
            raise InputError(f"{self.where}: lines of rank {max(named)}; the communicator has {ranks} ranks")
        missing: dict[str, str] = {}
        trees = self._complete(TREE, ranks, missing)
        rings = self._complete(RING, ranks, missing)
        whole = {channel: facts[0] for (kind, channel), facts in self.facts.items() if kind == "whole"}
        found = {channel: require_ring(order, ranks, f"{self.where}: line {line}") for channel, (order, line) in whole.items()}  # type: ignore[arg-type]
        for channel, facts in rings.items():
            order = _around_ring({rank: fact for rank, (fact, _) in facts.items()}, f"{self.where}: channel {channel}")  # type: ignore[misc]
            if _turned(found.setdefault(channel, order)) != _turned(order):
                raise InputError(f"{self.where}: channel {channel}: its ring differs from the neighbours that ranks state")
        made = {channel: self._parents(facts, channel) for channel, facts in trees.items()}
        self._require_all(found, made)
        missing = {kind: why for kind, why in missing.items() if not (found if kind == RING else made)}
        if not found and not made:
            raise InputError(f"{self.where}: {'; '.join(missing.values())}")
        return Channels(tuple(found[one] for one in sorted(found)), tuple(made[one] for one in sorted(made)), missing)

    def _complete(self, kind: str, ranks: int, missing: dict[str, str]) -> dict[int, dict[int, tuple[object, int]]]:
        """The facts of a kind, by channel; none where ranks have no line, as in the log of one of several processes."""
        found = {channel: facts for (of, channel), facts in self.facts.items() if of == kind}
        absent = sorted({rank for facts in found.values() for rank in set(range(ranks)) - set(facts)})
        name = "Trees" if kind == TREE else "Ring"
        if absent or not found:
            of = f" of rank {absent[0]}{f' and {len(absent) - 1} more' * (len(absent) > 1)}" if found else "s"
            missing[kind] = f"there is no {name} line{of}"
            return {}
        return found

    def _parents(self, facts: dict[int, tuple[object, int]], channel: int) -> tuple[int, ...]:
        """The tree of a channel, in which parents and children agree."""
        stated: list[tuple[int, tuple[int, ...]]] = [facts[rank][0] for rank in range(len(facts))]  # type: ignore[misc]
        parents = [parent for parent, _ in stated]
        for rank, (_, below) in enumerate(stated):
            own = tuple(other for other, parent in enumerate(parents) if parent == rank)
            if own != below:
                raise InputError(
                    f"{self.where}: line {facts[rank][1]}: tree {channel}: rank {rank} has below it {list(below)}, and ranks"
                    f" {list(own)} say that it is above them"
                )
        return require_tree(parents, f"{self.where}: tree {channel}")

    def _require_all(self, *found: dict[int, tuple[int, ...]]) -> None:
        """Channels are numbered from 0, as many as the lines state."""
        for made in found:
            count = self.counts.get("channels", max(made, default=-1) + 1)
            if made and sorted(made) != list(range(count)):
                raise InputError(
                    f"{self.where}: channels {', '.join(map(str, sorted(made)))} have lines; there are {count} channels"
                )


def _around(text: str) -> Around | None:
    if match := _UPWARDS.fullmatch(text):
        below, rank, parent = match.groups()
    elif match := _DOWNWARDS.fullmatch(text):
        parent, rank, below = match.groups()
    else:
        return None
    return int(parent), int(rank), tuple(sorted(one for one in map(int, below.split("/")) if one != ROOT))


def _around_ring(neighbours: dict[int, tuple[int, int]], at: str) -> tuple[int, ...]:
    """The ring in which every rank has these neighbours, from rank 0 on."""
    order = list(_walk(neighbours))
    for rank, (before, after) in neighbours.items():
        if neighbours.get(after, (-1, -1))[0] != rank or neighbours.get(before, (-1, -1))[1] != rank:
            raise InputError(f"{at}: rank {rank} is between {before} and {after}, which do not state it")
    return require_ring(order, len(neighbours), at)


def _walk(neighbours: dict[int, tuple[int, int]]) -> Iterator[int]:
    rank = 0
    for _ in neighbours:
        yield rank
        rank = neighbours.get(rank, (0, 0))[1]


def _turned(order: tuple[int, ...]) -> tuple[int, ...]:
    """The ring from rank 0 on."""
    return order[order.index(0) :] + order[: order.index(0)]
