"""The rings and trees that a log of NCCL or RCCL (NCCL_DEBUG=INFO) says of its communicators."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from certree.api.reports.text import counted
from certree.extras.clusters.imports.texts import decoded, lines_of
from certree.extras.clusters.running.channels import MAX_CHANNELS, RING, TREE, Channels, require_ring, require_tree
from certree.extras.clusters.running.communicators import Communicator, communicators
from certree.extras.clusters.running.log_lines import WHOLE, Fact, begins_channels, messages
from certree.models.common.errors import InputError
from certree.models.common.files import Opened

MAX_RANKS = 1 << 16
_NAMES = {TREE: "Trees", RING: "Ring"}

#: by channel and rank what is stated, and the line
Facts = Mapping[int, Mapping[int, tuple[Fact, int]]]


def has_channels(start: bytes) -> bool:
    """Whether a file begins as a log of NCCL, or with lines that have channels."""
    text = decoded(start, "replace")
    return "NCCL INFO" in text or any(begins_channels(line.removeprefix("INFO ")) for line in lines_of(text))


def read_log(opened: Opened, endpoints: int | None, number: int | None = None) -> Channels:
    """The channels of a communicator: of number N of those in the log, or of the one with as many ranks as endpoints.

    What is left out of the log is in `told`. InputError names lines that contradict each other and ranks without a line, and lists
    the communicators where there are several.
    """
    where = str(opened)
    found = communicators(where, messages(lines_of(decoded(opened.data(), "replace"))))
    if not found:
        raise InputError(f"{where}: no lines on channels, such as 'Channel 00/02 : 0 1 2 3'; give NCCL_DEBUG=INFO to NCCL")
    if number is not None:
        if not 1 <= number <= len(found):
            raise InputError(f"{where}: there is no communicator {number}; the log has {len(found)}")
        return _channels(where, found[number - 1])
    readings = [_reading(where, one) for one in found]
    large = [index for index, one in enumerate(found) if one.ranks != 1]
    if not large:
        raise InputError(f"{where}: the log has communicators of one rank only")
    fitting = [index for index in large if endpoints in (None, _size(readings[index], found[index]))]
    distinct: dict[object, int] = {}
    for index in fitting:
        if isinstance(reading := readings[index], Channels):
            distinct.setdefault((reading.rings, reading.trees), index)
    if len(distinct) == 1:
        chosen = readings[next(iter(distinct.values()))]
        assert isinstance(chosen, Channels)
        failed = tuple(f"left out: communicator {i + 1}: {text}" for i in fitting if isinstance(text := readings[i], str))
        return replace(chosen, told=(*_others(found, readings, chosen), *failed, *chosen.told))
    if not distinct and len(fitting or large) == 1:
        return _channels(where, found[(fitting or large)[0]])
    raise InputError(f"{where}: {_question(found, readings, large, endpoints)}")


def _size(reading: Channels | str, one: Communicator) -> int | None:
    return one.ranks if isinstance(reading, str) else reading.ranks


def _reading(where: str, one: Communicator) -> Channels | str:
    try:
        return _channels(where, one)
    except InputError as error:
        return str(error).removeprefix(f"{where}: ")


def _others(found: Sequence[Communicator], readings: Sequence[Channels | str], chosen: Channels) -> Iterator[str]:
    """The note on communicators that are not taken."""
    sizes = sorted({size for one, reading in zip(found, readings, strict=True) if (size := _size(reading, one)) is not None})
    if len(sizes) > 1:
        yield f"the log is of communicators of {' and '.join(map(str, sizes))} ranks; taken is that of {chosen.ranks}"
        for first, last in (one.lines for one in found if one.ranks is None):
            yield f"left out: lines between {first} and {last} that do not say of which communicator they are"


def _question(
    found: Sequence[Communicator], readings: Sequence[Channels | str], large: Sequence[int], endpoints: int | None
) -> str:
    """Which communicators there are, and how one is named."""
    listed = []
    for index in large:
        one, reading = found[index], readings[index]
        first, last = one.lines
        what = reading if isinstance(reading, str) else counted(len(reading.rings or reading.trees), "channels")
        listed.append(f"{index + 1}: {_size(reading, one) or 'unknown'} ranks, {what}, lines {first} to {last}")
    least = "" if endpoints is None else f" and the network has {endpoints} endpoints"
    return f"the log has {len(large)} communicators{least}; name one as FILE:NUMBER: {'; '.join(listed)}"


def _channels(where: str, one: Communicator) -> Channels:
    """The channels that the parts of a communicator state, in which all of them agree."""
    if one.unclear:
        raise InputError(f"{where}: {one.unclear}")
    facts, ranks, channels = _merged(where, one)
    missing = {kind: _absent(one, kind, facts[kind], ranks) for kind in (RING, TREE)}
    rings = {} if missing[RING] else {number: _around_ring(of, f"{where}: channel {number}") for number, of in facts[RING].items()}
    for number, whole in facts[WHOLE].items():
        fact, line = whole[0]
        order = require_ring(fact.value, ranks, f"{where}: line {line}")  # type: ignore[arg-type]
        if _turned(rings.setdefault(number, order)) != _turned(order):
            raise InputError(f"{where}: channel {number}: its ring differs from the neighbours that ranks state")
        rings[number] = order
    trees = {} if missing[TREE] else {number: _tree(where, of, number) for number, of in facts[TREE].items()}
    made = {RING: rings, TREE: trees}
    for kind, of in made.items():
        if of and sorted(of) != list(range(channels or max(of) + 1)):
            lost = _damage(one, kind) or f"; there are {channels or max(of) + 1} channels"
            missing[kind] = f"channels {', '.join(map(str, sorted(of)))} have {_NAMES[kind]} lines{lost}"
            of.clear()
    if not rings and not trees:
        raise InputError(f"{where}: {'; '.join(filter(None, missing.values()))}")
    absent = {kind: missing[kind] for kind, of in made.items() if not of}
    told = [f"left out: {kind}s, as {why}" for kind, why in absent.items()]
    if facts[RING] and missing[RING] and rings:
        told.append(f"left out: Ring lines, as {missing[RING]}")
    told += [f"left out: {_NAMES[kind]} lines{lost}" for kind in made if kind not in absent and (lost := _damage(one, kind))]
    return Channels(
        tuple(rings[number] for number in sorted(rings)), tuple(trees[number] for number in sorted(trees)), absent, tuple(told)
    )


def _merged(where: str, one: Communicator) -> tuple[dict[str, Facts], int, int | None]:
    """The facts of a communicator by kind, and how many ranks and channels it has."""
    facts: dict[str, defaultdict[int, dict[int, tuple[Fact, int]]]] = {kind: defaultdict(dict) for kind in (WHOLE, RING, TREE)}
    counts: dict[str, int] = {}
    for part in one.parts:
        for fact, line in part.facts.values():
            if fact.channel >= MAX_CHANNELS or fact.rank >= MAX_RANKS:
                raise InputError(f"{where}: line {line}: channel {fact.channel} of rank {fact.rank}; allowed: below {MAX_CHANNELS}")
            known, first = facts[fact.kind][fact.channel].setdefault(fact.rank, (fact, line))
            if known.value != fact.value:
                raise InputError(
                    f"{where}: lines {first} and {line} state different things of channel {fact.channel} of one communicator"
                )
            for what, count in (("ranks", part.ranks), ("ranks", fact.ranks), ("channels", fact.channels)):
                if count is not None and counts.setdefault(what, count) != count:
                    raise InputError(f"{where}: line {line}: {count} {what}; lines before it have {counts[what]}")
    named = [rank for kind in (RING, TREE) for of in facts[kind].values() for rank in of]
    ranks = counts.get("ranks", max(named, default=0) + 1)
    if max(named, default=0) >= ranks:
        raise InputError(f"{where}: lines of rank {max(named)}; the communicator has {ranks} ranks")
    return dict(facts), ranks, counts.get("channels")


def _absent(one: Communicator, kind: str, facts: Facts, ranks: int) -> str:
    """Why the facts of a kind make no rings or trees: ranks without a line, as in the log of one of several processes."""
    absent = sorted({rank for of in facts.values() for rank in set(range(ranks)) - set(of)})
    if facts and not absent:
        return ""
    of = f" of rank {absent[0]}{f' and {len(absent) - 1} more' * (len(absent) > 1)}" if facts else "s"
    return f"there is no {_NAMES[kind]} line{of}{_damage(one, kind)}"


def _damage(one: Communicator, kind: str) -> str:
    """Which lines of a kind are cut."""
    lines = sorted(line for part in one.parts for of, line in part.damaged if of == kind)
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f" (line {lines[0]}{more} cut or damaged)" if lines else ""


def _tree(where: str, facts: Mapping[int, tuple[Fact, int]], channel: int) -> tuple[int, ...]:
    """The tree of a channel, in which parents and children agree."""
    stated: list[tuple[int, tuple[int, ...]]] = [facts[rank][0].value for rank in range(len(facts))]  # type: ignore[misc]
    below: defaultdict[int, list[int]] = defaultdict(list)
    for rank, (parent, _) in enumerate(stated):
        below[parent].append(rank)
    for rank, (_, children) in enumerate(stated):
        if tuple(below[rank]) != children:
            raise InputError(
                f"{where}: line {facts[rank][1]}: tree {channel}: rank {rank} has below it {list(children)}, and ranks"
                f" {below[rank]} say that it is above them"
            )
    return require_tree([parent for parent, _ in stated], f"{where}: tree {channel}")


def _around_ring(facts: Mapping[int, tuple[Fact, int]], at: str) -> tuple[int, ...]:
    """The ring in which every rank has these neighbours, from rank 0 on."""
    neighbours: dict[int, tuple[int, int]] = {rank: fact.value for rank, (fact, _) in facts.items()}  # type: ignore[misc]
    for rank, (before, after) in neighbours.items():
        if neighbours.get(after, (-1, -1))[0] != rank or neighbours.get(before, (-1, -1))[1] != rank:
            raise InputError(f"{at}: rank {rank} is between {before} and {after}, which do not state it")
    return require_ring(list(_walk(neighbours)), len(neighbours), at)


def _walk(neighbours: Mapping[int, tuple[int, int]]) -> Iterator[int]:
    rank = 0
    for _ in neighbours:
        yield rank
        rank = neighbours.get(rank, (0, 0))[1]


def _turned(order: tuple[int, ...]) -> tuple[int, ...]:
    """The ring from rank 0 on."""
    return order[order.index(0) :] + order[: order.index(0)]
