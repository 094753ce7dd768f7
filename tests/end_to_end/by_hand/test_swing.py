"""Swing (De Sensi et al., NSDI 2024) on a torus, written out from its formula as a CSV: verified, and simulated slotted.

In stage s a node exchanges all it has with the node that is ρ(s) = 1 - 2 + 4 - ... ± 2^s further along a ring, ahead where its
coordinate is even, behind where it is odd; the rings of x and y take turns. Both transfers of a pair leave in one step, so that
each carries what its source held before the stage, and one accumulator is enough. Pairs whose routes meet take turns.
"""

from itertools import count

import pytest

from certree.models.network.dimension_order import DimensionOrder
from certree.models.network.spec import parse_topology
from tests.cli.running import certree, json_of


def peer(node, side, stage, shift=0):
    """The node that a node exchanges with in a stage."""
    along, exponent = stage % 2, stage // 2
    place = [node % side, node // side]
    reach = sum((-2) ** power for power in range(exponent + 1)) + shift
    place[along] = (place[along] + (reach if place[along] % 2 == 0 else -reach)) % side
    return place[0] + side * place[1]


def swing(side, shift=0):
    """The CSV of one chunk on a torus of two equal sides, and its number of steps; `shift` makes the last stage go elsewhere."""
    topology = parse_topology(f"torus:{side}x{side}")
    router, lines, step = DimensionOrder(topology), ["chunk,op,src,dst,step"], 0
    stages = 2 * (side.bit_length() - 1)
    for stage in range(stages):
        used: list[set[int]] = []
        for node in range(side * side):
            other = peer(node, side, stage, shift if stage == stages - 1 else 0)
            if node > other:
                continue
            links = {*route(topology, router, node, other), *route(topology, router, other, node)}
            slot = next(slot for slot in count() if slot == len(used) or not used[slot] & links)
            used += [set()] * (slot == len(used))
            used[slot] = used[slot] | links
            lines += [f"0,reduce,{node},{other},{step + slot}", f"0,reduce,{other},{node},{step + slot}"]
        step += len(used)
    return "\n".join([*lines, ""]), step


def route(topology, router, source, target):
    """The links from a node to another one, x first."""
    link = int(topology.pair_index(source, target))
    return (link,) if link >= 0 else router.route(source, target)


@pytest.mark.parametrize(("side", "stages"), [(4, 4), (8, 6)])
def test_swing_is_right_and_its_time_is_the_closed_form(tmp_path, side, stages):
    text, steps = swing(side)
    (tmp_path / "swing.csv").write_text(text)
    asked = ("--topology", f"torus:{side}x{side}", "--collective", "all-reduce", "--route", "dimension-order", "--size", "1KiB")
    made = json_of("certify", tmp_path / "swing.csv", *asked, "-o", tmp_path / "swing.json")
    assert (made["valid"], made["steps"], made["transfers"]) == (True, steps, side * side * stages)
    ran = json_of("simulate", tmp_path / "swing.json")
    assert (ran["data_ok"], ran["contention_cycles"], ran["late"]) == (True, 0, 0)
    assert ran["cycles"] == ran["closed_form_cycles"] == made["time_cycles"]


def test_swing_with_a_wrong_distance_is_invalid(tmp_path):
    text, _ = swing(4, shift=2)
    (tmp_path / "swing.csv").write_text(text)
    asked = ("--topology", "torus:4x4", "--collective", "all-reduce", "--route", "dimension-order")
    outcome = certree("verify", tmp_path / "swing.csv", *asked)
    assert outcome.code == 1
    assert "a second time" in outcome.out
