"""Launches: all end for any start skew just when every interleaving ends; circles in words; the order as a certificate."""

import random
from dataclasses import replace

import pytest

import certree.api as ct
from certree.extras.joint.check.launches import check_launches, holds_for
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_schedule import Launching

NETWORK = ct.topology("ring:4")


def entry(name: str, *members: int, after: tuple[str, ...] = ()) -> Entry:
    """An all-reduce of 1 KiB among some ranks."""
    return Entry(name, ct.collective("all-reduce", members=members), 1024, after=after)


TWO = [entry("dp0", 0, 1), entry("tp3", 0, 1, 2)]


def test_the_circle_of_two_ranks() -> None:
    verdict = check_launches(NETWORK, TWO, {0: ["dp0", "tp3"], 1: ["tp3", "dp0"]})
    assert not verdict.valid
    assert verdict.circle == "dp0 waits for rank 1, which is in tp3; tp3 waits for rank 0, which is in dp0"
    assert verdict.enough == 2
    assert check_launches(NETWORK, TWO, {0: ["dp0", "tp3"], 1: ["tp3", "dp0"]}, contexts=2).valid
    assert check_launches(NETWORK, TWO, {}).order == ("dp0", "tp3")


def test_a_circle_over_an_end_that_is_awaited() -> None:
    both = [TWO[0], replace(TWO[1], after=("dp0",))]
    verdict = check_launches(NETWORK, both, {1: ["tp3", "dp0"]})
    assert verdict.circle == "dp0 waits for rank 1, which is in tp3; tp3 waits for the end of dp0"


@pytest.mark.parametrize(
    ("launches", "words"),
    [
        ({9: ["dp0"]}, "rank 9, which is not an endpoint of ring:4"),
        ({0: ["dp0"]}, "launches of rank 0 are dp0; its collectives: dp0, tp3"),
    ],
)
def test_bad_launches(launches: dict[int, list[str]], words: str) -> None:
    with pytest.raises(ct.InputError, match=words):
        check_launches(NETWORK, TWO, launches)


def _all_end(entries: list[Entry], orders: dict[int, list[str]], contexts: int) -> bool:
    """Whether all collectives can still end from every state that can be reached, by all interleavings."""
    names = frozenset(one.name for one in entries)
    seen, todo = set(), [frozenset[str]()]
    while todo:
        done = todo.pop()
        if done in seen:
            continue
        seen.add(done)
        following = []
        for one in entries:
            waits = [[name for name in order if name not in done][:contexts] for order in orders.values() if one.name in order]
            if one.name not in done and done.issuperset(one.after) and all(one.name in names_of for names_of in waits):
                following.append(done | {one.name})
        if not following and done != names:
            return False
        todo += following
    return True


def test_drawn_launches() -> None:
    """The verdict is that of all interleavings; orders that were changed prove nothing."""
    draw, found = random.Random(3), [0, 0]
    for _ in range(300):
        entries: list[Entry] = []
        for number in range(draw.randint(2, 4)):
            after = tuple(one.name for one in entries if draw.random() < 0.2)
            entries.append(entry(f"c{number}", *draw.sample(range(4), draw.randint(2, 4)), after=after))
        orders = {rank: [one.name for one in entries if rank in (one.collective.members or range(4))] for rank in range(4)}
        for order in orders.values():
            draw.shuffle(order)
        contexts = draw.randint(1, 2)
        verdict = check_launches(NETWORK, entries, orders, contexts)
        assert verdict.valid == _all_end(entries, orders, contexts)
        assert (verdict.circle is None) == verdict.valid
        if verdict.order is not None:
            right = Launching(contexts, {rank: tuple(names) for rank, names in orders.items()}, verdict.order)
            assert holds_for(NETWORK, entries, right)
            for changed in (tuple(reversed(verdict.order)), tuple(draw.sample(verdict.order, len(verdict.order)))):
                holds = holds_for(NETWORK, entries, replace(right, order=changed))
                assert holds == _is_order(entries, orders, changed, contexts)
        found[verdict.valid] += 1
    assert min(found) > 50


def _is_order(entries: list[Entry], orders: dict[int, list[str]], order: tuple[str, ...], contexts: int) -> bool:
    place = {name: number for number, name in enumerate(order)}
    known = {one.name: one for one in entries}
    ahead = [
        sum(place[later] > place[name] for later in launched[: launched.index(name)])
        for launched in orders.values()
        for name in launched
    ]
    return max(ahead) < contexts and all(place[other] < place[name] for name in known for other in known[name].after)
