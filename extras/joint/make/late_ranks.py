"""Schedules of an all-reduce some of whose members are late: the others add up first.

Each chunk has an owner among the members that are early, to which these send theirs. A late member gives its own to the owner; the
last of them gets the sum of the others in the same exchange, so that both have all of it. Then the owner sends the chunk to all
others. What is left to do after the last member has come is to send as much as it has, and the way of the last chunks (Devraj,
Ding, Kumar, Kleinberg and Singh, "Efficient AllReduce with Stragglers", arXiv 2505.23523, whose chunks are as many as there are
early members, and go from hand to hand).

With one late member all is planned in rounds of a message (`in_rounds`). With E early ones, chunk c is exchanged in round c, by
owner c mod E, and in the round j later, or a multiple of E later, where results are not there yet, it is sent on to another one
(`_turns`). For odd E its owner sends it to place 2j mod E after itself: in each round all send to different members, and nobody
but the owner gets something of the late one. For even E no owner can do so alone: the places after it, and these less j, would both
have to be all numbers but 0, and so would the j, whose sum is E / 2 and not 0. So the member E / 2 places after the owner sends to
the last one, E / 2 - 1 rounds later and a multiple of E; the owner sends to place 2j for j < E / 2, and to 2j + 1 mod E for others.
That takes a few rounds more at the end; for few chunks it is faster to leave one of E + 1 rounds idle, as if there were one more.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.make.merging import in_equal_slots
from certree.extras.joint.model.collective_list import Entry
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.fine.fine_tolerance import tolerates
from certree.models.fine.slots import FineTimes
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Request
from certree.synth.ranks.embedding import Rows, embed

Int64 = NDArray[np.int64]
_CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # of each owner
MOST_TRANSFERS = 1 << 18  # of a schedule in rounds
MOST_BOOKED = 1 << 14  # of one that is to be booked, with several late members


def early_first(network: Topology, machine: Machine, entry: Entry) -> Iterator[Schedule]:
    """The schedules in fine slots for 1, 2, 4, ... chunks of each owner; none for other collectives than all-reduce, and for fewer
    than two early members. O(chunks · members) each."""
    late = [node for node, _ in sorted(entry.late, key=lambda one: (one[1], one[0]))]
    members = entry.collective.members_of(network)
    early = members[~np.isin(members, late)].astype(np.int64)
    if entry.collective.kind is not CollectiveKind.ALL_REDUCE or not late or len(early) < 2:
        return
    request = Request(network, entry.collective, entry.size, machine)
    most = MOST_TRANSFERS if len(late) == 1 else MOST_BOOKED
    for each in _CHUNKS:
        if 2 * each * len(early) * len(members) > most:
            return
        try:
            yield in_rounds(request, early, late[0], each) if len(late) == 1 else _to_book(request, early, late, each)
        except (InputError, UnsupportedError):  # more chunks than the message has flits, or links that are shared
            return


def in_rounds(request: Request, early: Int64, late: int, each: int) -> Schedule:
    """With one late member, in rounds of a message. UnsupportedError where messages of a round meet on the way."""
    trial = planned(request, early, late, each, 0, 1 << 20)
    times = FineTimes(trial)
    once = max(times.ser, times.red)
    wait = int(times.latency.max()) + times.ser + times.red + request.machine.reduce_start_cycles
    made = planned(request, early, late, each, -(-wait // once), once)
    if not tolerates(made, 0):
        raise UnsupportedError(f"{request.topology.name}: messages of a round meet on their way")
    return made


def planned(request: Request, early: Int64, late: int, each: int, wait: int, slot: int) -> Schedule:
    """The shorter of the plans, in slots of a round; data sent can be sent on `wait` slots later."""
    plans = [
        _planned(request, early, late, each, wait, slot, idle=idle)
        for idle in ((True,) if len(early) % 2 or len(early) == 2 else (False, True))
    ]
    return min(plans, key=lambda plan: plan.steps - int(plan.step[(plan.src == late) | (plan.dst == late)].min()))


def _planned(request: Request, early: Int64, late: int, each: int, wait: int, slot: int, *, idle: bool) -> Schedule:
    """One of them; `idle`: with an odd number of rounds for a chunk of each owner."""
    count, rows = len(early), Rows()
    period, turns = _turns(count, wait, idle=idle)
    chunk = np.arange(count * each)
    owner, block = chunk % count, chunk // count
    for turn, (_, _, place) in enumerate(turns):
        other = (owner + place) % period
        real = other < count
        rows.add(chunk[real], Op.REDUCE, (block * (period - 1) + turn)[real], early[other[real]], early[owner[real]])
    first = each * (period - 1) + wait
    exchanged = first + block * period + owner
    rows.add(chunk, Op.REDUCE, exchanged, late, early[owner])
    rows.add(chunk, Op.REDUCE, exchanged, early[owner], late)
    on = period * -(-max(0, wait - 1) // period)
    for later, sender, place in turns:
        source, other = (owner + sender) % period, (owner + place) % period
        real = other < count
        rows.add(chunk[real], Op.COPY, (exchanged + on + later)[real], early[source[real]], early[other[real]])
    made = _embedded(request, early, rows, each)
    steps = np.ones(made.steps, np.int32)
    made_for = MadeFor(request.message_bytes, request.machine)
    return replace(made, rounds=steps, slot_cycles=slot, delay=1, made_for=made_for)


def _turns(count: int, wait: int, *, idle: bool) -> tuple[int, list[tuple[int, int, int]]]:
    """The period in rounds, and for each copy of a result the rounds after its exchange, the place after the owner that sends it,
    and the one that gets it."""
    if idle:
        period = count + 1 - count % 2
        return period, [(turn, 0, 2 * turn % period) for turn in range(1, period)]
    half = count // 2
    turns = [(turn, 0, 2 * turn) for turn in range(1, half)]
    turns += [(turn, 0, (2 * turn + 1) % count) for turn in range(half, count - 1)]
    there = next(turn for turn, _, place in turns if place == half) + max(1, wait)
    return count, [*turns, (half - 1 + count * max(0, -(-(there - half + 1) // count)), half, count - 1)]


def _to_book(request: Request, early: Int64, late: list[int], each: int) -> Schedule:
    """With several late members, which give theirs one after the other; in slots as long as its steps, for a list scheduler."""
    count, rows = len(early), Rows()
    chunk = np.arange(count * each)
    owner = early[chunk % count]
    for place in range(1, count):
        rows.add(chunk, Op.REDUCE, 0, early[(chunk + place) % count], owner)
    for number, node in enumerate(late):
        rows.add(chunk, Op.REDUCE, 1 + number + chunk, node, owner)
    rows.add(chunk, Op.REDUCE, len(late) + chunk, owner, late[-1])
    after = 1 + len(late) + chunk
    for place in range(1, count):
        rows.add(chunk, Op.COPY, after + place - 1, owner, early[(chunk + place) % count])
    for number, node in enumerate(late[:-1]):
        rows.add(chunk, Op.COPY, after + number, owner, node)
    return in_equal_slots(_embedded(request, early, rows, each), request.message_bytes, request.machine)


def _embedded(request: Request, early: Int64, rows: Rows, each: int) -> Schedule:
    """Transfers with their routes."""
    owner = early[np.arange(len(early) * each) % len(early)]
    return embed(request, owner, rows.columns, method="early-first", options={"each": each})
