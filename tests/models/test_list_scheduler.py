"""The list scheduler compared with a search cycle by cycle, and what comes on top: reservations, credits, operands in order."""

from copy import deepcopy
from random import Random

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Cells, Channels, Costs, Order, Places, Reserved, Rows, Sharing, Turns
from certree.models.fine.list_scheduler import ListScheduler, in_order, with_credits

NODES = 6
HOP = [3 + link % 2 for link in range(2 * NODES)]  # a ring: link i leads from node i ahead, link NODES + i back
COSTS = Costs(ser=5, red=4, hop=HOP, ends=2, start=1)


def ring(rng: Random, count: int, lanes: int = 1) -> Rows:
    """Messages of up to three hops."""
    routes, src, dst = [], [], []
    for _ in range(count):
        start, hops, back = rng.randrange(NODES), rng.randint(1, 3), rng.randrange(2)
        nodes = [(start + (-hop if back else hop)) % NODES for hop in range(hops + 1)]
        src.append(nodes[0])
        dst.append(nodes[-1])
        routes.append(tuple(NODES * back + node for node in nodes[:-1]))
    links = np.arange(2 * NODES)
    return Rows(
        src=np.array(src),
        dst=np.array(dst),
        adds=np.zeros(count, np.uint8),
        routes=routes,
        lanes=np.full(2 * NODES, lanes, np.int32),
        parallel=[(link,) for link in range(2 * NODES)],
        nodes=NODES,
        links=links,
    )


def waiting_for_nothing(count: int, **more: list[int]) -> Order:
    """All transfers can leave at once."""
    none = [NONE] * count
    return Order([], [[] for _ in none], [[] for _ in none], [], none, [], none, **more)


class Naive:
    """Resources as sets of taken cycles, one for each lane."""

    def __init__(self, lanes: list[int], reserved: Reserved, sharing: Sharing = Sharing.BETWEEN, guard: int = 0) -> None:
        self.lanes, self.sharing, self.guard = [[set() for _ in range(count)] for count in lanes], sharing, guard
        self.stays: list[list[tuple[int, int, int]]] = [[] for _ in lanes]  # begin, end, source
        for resource, entry, length in sorted(
            zip(*(one.tolist() for one in reserved.columns), strict=True), key=lambda one: one[1]
        ):
            self.take(resource, entry, length, -100)

    def lane(self, resource: int, entry: int, length: int) -> int | None:
        """A lane that is free then."""
        if self.sharing is Sharing.BEHIND:
            ends = [max(lane, default=-1) + 1 for lane in self.lanes[resource]]
            return ends.index(min(ends)) if min(ends) <= entry else None
        cycles = set(range(entry, entry + length))
        return next((number for number, lane in enumerate(self.lanes[resource]) if not lane & cycles), None)

    def is_free(self, resource: int, entry: int, length: int, source: int) -> bool:
        """Whether a message can be there."""
        if self.sharing is not Sharing.MEETS:
            return self.lane(resource, entry, length) is not None
        guards = [(begin, end, 0 if source == other else self.guard) for begin, end, other in self.stays[resource]]
        return sum(begin < entry + length + guard and entry < end + guard for begin, end, guard in guards) < len(
            self.lanes[resource]
        )

    def take(self, resource: int, entry: int, length: int, source: int) -> None:
        """Do nothing: the resource is there."""
        self.stays[resource].append((entry, entry + length, source))
        if self.sharing is not Sharing.MEETS:
            self.lanes[resource][self.lane(resource, entry, length)] |= set(range(entry, entry + length))

    def first(self, rows: list[list[tuple[int, int, int, int]]], start: int, slot: int) -> int:
        """The first slot in which all places (resource, source, after, length) of all rows can be taken, which they are."""
        fire = -(-start // slot) * slot
        while not self.take_all(rows, fire):
            fire += slot
        return fire

    def take_all(self, rows: list[list[tuple[int, int, int, int]]], fire: int) -> bool:
        """Row by row; nothing where one of them is not free."""
        before = deepcopy((self.lanes, self.stays))
        for row in rows:
            if not all(self.is_free(one, fire + after, length, source) for one, source, after, length in row):
                self.lanes, self.stays = before
                return False
            for one, source, after, length in row:
                self.take(one, fire + after, length, source)
        return True


def drawn_reservations(rng: Random, resources: int) -> Reserved:
    """Up to one on each resource, so that they do not meet."""
    some = np.array(sorted(rng.sample(range(resources), resources // 2)), np.int64)
    return Reserved(some, np.array([rng.randrange(20) for _ in some]), np.array([rng.randint(1, 30) for _ in some]))


@pytest.mark.parametrize("seed", range(40))
def test_by_events_each_leaves_in_the_first_free_slot(seed: int) -> None:
    """Links of one lane or two of which others have some, with credits or without, and data that are there from a cycle on."""
    rng = Random(seed)
    rows, slot = ring(rng, 30, lanes=1 + seed % 2), rng.choice([1, 4])
    costs = Costs(COSTS.ser, COSTS.red, HOP, COSTS.ends, COSTS.start, slot)
    reserved = drawn_reservations(rng, 2 * NODES)
    if seed % 3:
        rows = with_credits(
            rows, np.array([rng.randrange(2) for _ in rows.routes], np.int32), costs, room=9, loop=rng.randint(4, 9)
        )
    release = np.array([rng.randrange(60) for _ in rows.routes])
    turns = Turns(np.array([rng.randrange(8) for _ in rows.routes]), release)
    found = ListScheduler(rows, waiting_for_nothing(len(rows.routes)), reserved).run(costs, turns)
    naive, expected = Naive(rows.lanes.tolist(), reserved), [0] * len(rows.routes)
    for row in sorted(range(len(rows.routes)), key=lambda row: (release[row], turns.priority[row], row)):
        places = [(link, 0, sum(HOP[one] for one in rows.routes[row][:place]), 5) for place, link in enumerate(rows.routes[row])]
        held = np.flatnonzero(rows.holds.row == row)
        places += [(rows.holds.resource[i], 0, rows.holds.after[i], rows.holds.length[i]) for i in held.tolist()]
        expected[row] = naive.first([places], int(release[row]), slot)
    assert found.fire.tolist() == expected


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize(("room", "loop"), [(5, 4), (9, 6), (5, 12), (6, 3)])
def test_no_more_flits_are_under_way_than_a_channel_has_credits(room: int, loop: int, patient: bool) -> None:
    """Flits are counted one by one; without credits there are more."""
    rng = Random(room)
    rows, channel = ring(rng, 60, lanes=4), np.array([rng.randrange(2) for _ in range(60)], np.int32)
    turns = Turns.first_of(np.arange(60), patient=patient)

    def most_under_way(with_or_without: Rows) -> int:
        fire = ListScheduler(with_or_without, waiting_for_nothing(60)).run(COSTS, turns).fire
        taken = np.zeros((2 * NODES, 2, int(fire.max()) + 200), np.int64)
        for row, route in enumerate(rows.routes):
            entry = int(fire[row])
            for link in route:
                for flit in range(COSTS.ser):
                    taken[link, channel[row], entry + flit : entry + flit + loop] += 1
                entry += HOP[link]
        return int(taken.max())

    assert most_under_way(rows) > room >= most_under_way(with_credits(rows, channel, COSTS, room, loop))


def test_a_message_that_needs_more_credits_than_there_are() -> None:
    rows = ring(Random(1), 3)
    with pytest.raises(UnsupportedError, match="4 credits: a message takes 5"):
        with_credits(rows, np.zeros(3, np.int32), COSTS, room=4, loop=8)


@pytest.mark.parametrize("seed", range(20))
def test_operands_come_to_their_sum_in_the_stated_order(seed: int) -> None:
    """However far they have to go; in any order they come otherwise."""
    rng = Random(seed)
    rows = ring(rng, 24)
    rows.adds[:] = 1
    before: dict[int, int] = {}
    follows = [NONE] * 24
    for row in rng.sample(range(24), 24):
        follows[row] = before.get(int(rows.dst[row]), NONE)
        before[int(rows.dst[row])] = row
    turns = Turns.first_of(np.arange(24), patient=bool(seed % 2))
    come = np.array([COSTS.ends + sum(HOP[link] for link in route) for route in rows.routes])
    late = []
    for order in (waiting_for_nothing(24, follows=follows), waiting_for_nothing(24)):
        found = ListScheduler(rows, order).run(COSTS, turns)
        arrival = found.fire + come
        pairs = [(one, row) for row, one in enumerate(follows) if one != NONE]
        late.append(sum(arrival[one] >= arrival[row] or found.landed[one] >= found.landed[row] for one, row in pairs))
    assert late[0] == 0 < late[1]


def test_a_paced_run_has_its_links_for_itself() -> None:
    rows = ring(Random(1), 4)
    channels = Channels(np.zeros(4, np.int32), np.arange(4, dtype=np.int32), 1, 1, 8)
    reserved = Reserved(np.array([1]), np.array([5]), np.array([9]))
    with pytest.raises(UnsupportedError, match="share their links with nobody"):
        ListScheduler(rows, waiting_for_nothing(4), reserved).forwarded(COSTS, Turns.first_of(np.arange(4)), channels, 1)


def test_more_is_reserved_than_there_is() -> None:
    rows = ring(Random(1), 4)
    reserved = Reserved(np.array([1, 1]), np.array([5, 9]), np.array([9, 9]))
    with pytest.raises(ValueError, match="more is taken beforehand than there are lanes"):
        ListScheduler(rows, waiting_for_nothing(4), reserved).run(COSTS)


@pytest.mark.parametrize("sharing", list(Sharing))
@pytest.mark.parametrize("seed", range(20))
def test_in_a_stated_order_each_leaves_in_the_first_right_slot(seed: int, sharing: Sharing) -> None:
    """Places at any time after a firing, so also behind planned waits; copies and sums in any order; messages of any length."""
    rng = Random(seed)
    count, resources, slot = 30, 5, rng.choice([1, 3])
    guard = rng.choice([0, 3]) if sharing is Sharing.MEETS else 0
    size = 2 if sharing is Sharing.MEETS and not guard else 1
    lanes = [1 if guard else rng.randint(size, 3) for _ in range(resources)]
    rows = [
        [(one, rng.randrange(3), rng.randrange(12), 4 if sharing is Sharing.MEETS else rng.randint(2, 6)) for one in some]
        for some in (rng.sample(range(resources), rng.randint(1, 3)) for _ in range(count))
    ]
    reads, writes = [np.array([rng.randrange(9) for _ in range(count)]) for _ in range(2)]
    copies, lands = np.array([rng.random() < 0.5 for _ in range(count)]), np.array([rng.randint(5, 25) for _ in range(count)])
    release, order = np.array([rng.randrange(30) for _ in range(count)]), rng.sample(range(count), count)
    groups = [order[at : at + size] for at in range(0, count, size)]
    reserved = drawn_reservations(rng, resources)
    flat = [(row, *place) for row, places in enumerate(rows) for place in places]
    cells = Cells(reads, writes, copies, lands, np.arange(0, count + 1, size), np.array(order), release)
    fire, met = in_order(Places(*np.array(flat, np.int64).T), cells, np.array(lanes), slot, sharing, guard, reserved)
    naive, done = Naive(lanes, reserved, sharing, guard), {}
    for group in groups:
        start = 0
        for row in group:
            landed = [done[one] + lands[one] for one in done if writes[one] == reads[row]]
            under_way = [done[one] + lands[one] for one in done if writes[one] == writes[row] and (copies[row] or copies[one])]
            read = [done[one] for one in done if reads[one] == writes[row]]
            start = max([start, release[row], *landed, *under_way, *read])
        done |= dict.fromkeys(group, naive.first([rows[row] for row in group], int(start), slot))
    assert met == NONE
    assert fire.tolist() == [done[row] for row in range(count)]


def test_transfers_that_have_to_leave_together_and_always_meet() -> None:
    """Both take one resource of one lane: there is no slot for the group, which is named."""
    nothing, cell = np.zeros(2, np.int64), np.arange(2)
    places = Places(np.arange(2), nothing, nothing, nothing, nothing + 4)
    cells = Cells(cell, cell, np.ones(2, np.bool_), nothing + 9, np.array([0, 2]), cell)
    _, met = in_order(places, cells, np.ones(1, np.int64), 1, Sharing.MEETS)
    assert met == 0
