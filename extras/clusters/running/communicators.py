"""The communicators of a log: which messages of which processes are of one communicator."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from certree.extras.clusters.running.log_lines import Damaged, Fact, Member, Message, stated
from certree.models.common.errors import InputError


@dataclass
class Part:
    """The statements of one process, or of lines that name none, on one communicator, with these lines."""

    source: str
    identity: str | None = None
    address: str | None = None
    ranks: int | None = None
    rank: int | None = None
    complete: bool = False
    facts: dict[tuple[str, int, int], tuple[Fact, int]] = field(default_factory=dict)
    damaged: list[tuple[str, int]] = field(default_factory=list)

    @property
    def process(self) -> str:
        """The host and the process."""
        return self.source.rsplit(":", 1)[0]

    def differs(self, fact: Fact) -> bool:
        """Whether the fact cannot be of the same rank of the same communicator."""
        known = self.facts.get((fact.kind, fact.channel, fact.rank))
        return (
            (known is not None and known[0].value != fact.value)
            or (self.rank not in (None, fact.rank))
            or (fact.ranks is not None and self.ranks not in (None, fact.ranks))
        )


@dataclass
class Communicator:
    """The parts of a communicator. `unclear`: why its lines cannot be told from those of others."""

    parts: list[Part]
    unclear: str | None = None

    @property
    def ranks(self) -> int | None:
        """How many ranks it has, where a line says so."""
        return next((part.ranks for part in self.parts if part.ranks is not None), None)

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line on its channels."""
        found = [line for part in self.parts for _, line in (*part.facts.values(), *part.damaged)]
        return min(found), max(found)


def communicators(where: str, messages: Iterable[Message]) -> list[Communicator]:
    """The communicators with lines on channels, in the order of these lines.

    Those that state a `commId` are told apart by it. Of others with one number of ranks, a rank of the first is the first of this
    number on its process, and so on, which holds where all ranks make them in the same order; where several processes have the
    same rank, only those that say the same are taken for one. InputError for lines without the name of a process that contradict
    each other.
    """
    parts = [part for part in _parts(where, messages) if part.facts or part.damaged]
    named: dict[str, list[Part]] = {}
    others = []
    for part in parts:
        if part.identity is None:
            others.append(part)
        else:
            named.setdefault(part.identity, []).append(part)
    sizes = sorted({part.ranks for part in others if part.ranks is not None})
    size_of_rest = sizes[0] if len(sizes) == 1 else None
    by_size: dict[int | None, list[Part]] = {}
    for part in others:
        by_size.setdefault(size_of_rest if part.ranks is None else part.ranks, []).append(part)
    found = [Communicator(group) for group in named.values()]
    for size, group in by_size.items():
        found += [Communicator(group)] if size is None else _in_order(group, size)
    return sorted(found, key=lambda one: one.lines)


def _parts(where: str, messages: Iterable[Message]) -> list[Part]:
    """The lines of each process on one communicator after the other."""
    parts: list[Part] = []
    current: dict[object, Part] = {}

    def begin(key: object, source: str) -> Part:
        parts.append(Part(source))
        current[key] = parts[-1]
        return parts[-1]

    for message in messages:
        source = message.source
        for said in stated(message):
            # without names of processes the lines of all ranks are mixed: only the number of ranks tells communicators apart
            key = source or (said.ranks if isinstance(said, Fact) else None)
            part = current.get(key)
            if isinstance(said, Member):
                if source:
                    _member(part if part and _goes_on(part, said) else begin(key, source), said)
                continue
            if isinstance(said, Damaged):
                (part or begin(key, source)).damaged.append((said.kind, message.line))
                continue
            if part is None or (source and (part.complete or part.differs(said))):
                part = begin(key, source)
            elif part.differs(said):
                line = part.facts[said.kind, said.channel, said.rank][1]
                raise InputError(
                    f"{where}: lines {line} and {message.line} state different things of channel {said.channel}: the log is of"
                    " several communicators; give the lines of one"
                )
            part.facts.setdefault((said.kind, said.channel, said.rank), (said, message.line))
            part.ranks = said.ranks if part.ranks is None else part.ranks
            part.rank = said.rank if source else None
    return parts


def _goes_on(part: Part, said: Member) -> bool:
    """Whether a part is of the communicator that a process names."""
    same = part.identity is None or said.identity in (None, part.identity)
    if part.address is None:  # old versions name it when its channels are there
        return said.complete and not part.complete and part.rank in (None, said.rank) and part.ranks in (None, said.ranks)
    return part.address == said.address and same and (said.complete or not part.complete)


def _member(part: Part, said: Member) -> None:
    part.address, part.rank, part.ranks = said.address, said.rank, said.ranks
    part.identity = said.identity if part.identity is None else part.identity
    part.complete = part.complete or said.complete


def _in_order(parts: Sequence[Part], size: int) -> list[Communicator]:
    """The communicators of parts without an identity: those of each rank are in the order in which the process made them."""
    of_rank: defaultdict[object, list[Part]] = defaultdict(list)
    for part in parts:
        of_rank[part.source if part.rank is None else part.rank].append(part)
    fullest = [max(group, key=lambda part: len(part.facts)) for group in of_rank.values()]
    unlike = [(one, part) for one, group in zip(fullest, of_rank.values(), strict=True) for part in group if not _within(part, one)]
    if not unlike:
        return [Communicator(fullest + [part for part in parts if part.damaged and not any(part is one for one in fullest)])]
    if any(len({part.process for part in group}) > 1 for group in of_rank.values()):
        lines = " and ".join(str(line) for line in sorted(min(line for _, line in part.facts.values()) for part in unlike[0]))
        why = f"several communicators of {size} ranks have no commId, and what lines {lines} state differs; give the lines of one"
        return [Communicator(list(parts), why)]
    most = max(map(len, of_rank.values()))
    return [Communicator([group[number] for group in of_rank.values() if number < len(group)]) for number in range(most)]


def _within(part: Part, other: Part) -> bool:
    """Whether a part says what another says, as far as its lines can be read."""
    same = all(key in other.facts and other.facts[key][0] == fact for key, (fact, _) in part.facts.items())
    return same and (len(part.facts) == len(other.facts) or bool(part.damaged))
