"""GenTree: placements of Figure 7, the picks of the paper, rearrangement, and where Algorithm 1 as printed loses a block."""

import numpy as np
import pytest

from certree.extras.costs.make.plan import basic_placement, collect, factorizations
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.graphs.switch_tree import CROSSING, central_switches, switch_tree
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, valid

MODEL = load_genmodel("gentree")


def blocks_of(network: str) -> dict[int, dict[int, str]]:
    """For every switch the blocks (A, B, ...) that each server below it keeps."""
    placement = basic_placement(switch_tree(parse_topology(network)))
    return {
        switch: {
            int(server): "".join(chr(ord("A") + block) for block in np.flatnonzero(holder == server).tolist())
            for server in np.unique(holder)
        }
        for switch, holder in placement.items()
    }


def test_figure_7a_symmetric_tree() -> None:
    assert blocks_of("tree:2x3") == {
        6: {0: "AB", 1: "CD", 2: "EF"},
        7: {3: "AB", 4: "CD", 5: "EF"},
        8: {0: "A", 1: "C", 2: "E", 3: "B", 4: "D", 5: "F"},
    }


def test_figure_7b_asymmetric_tree() -> None:
    assert blocks_of("tree:3+4") == {
        7: {0: "ABC", 1: "DE", 2: "FG"},
        8: {3: "AB", 4: "CD", 5: "EF", 6: "G"},
        9: {0: "A", 1: "D", 2: "F", 3: "B", 4: "C", 5: "E", 6: "G"},
    }


def test_figure_7_transfers_follow_the_placements() -> None:
    made = valid("asymmetric-cps", "tree:3+4", "reduce-scatter")
    assert made.chunk_root.tolist() == [0, 3, 4, 1, 5, 2, 6]
    top = made.step == 1  # every block but one's own crosses the root, once
    crossing = list(zip(made.chunk[top].tolist(), made.src[top].tolist(), made.dst[top].tolist(), strict=True))
    assert sorted(crossing) == [(0, 3, 0), (1, 0, 3), (2, 0, 4), (3, 4, 1), (4, 1, 5), (5, 5, 2), (6, 2, 6)]


def test_algorithm_1_as_printed_leaves_blocks_without_an_owner() -> None:
    """tree:2+5: server 4 holds nothing but block E, which server 1 has taken when its turn comes; nobody is left to take D."""
    tree = switch_tree(parse_topology("tree:2+5"))
    placement = basic_placement(tree)
    held = [placement[child] for child in tree.children[tree.root]]
    final, homeless = collect(held, tree.servers(tree.root))
    assert homeless == 1
    assert final[3] in (held[0][3], held[1][3])
    assert 4 not in final.tolist()
    # and no other choice gives everyone one block: four blocks are held by three servers
    assert {int(holders[block]) for holders in held for block in range(4)} == {0, 2, 3}
    # it happens in the paper's own cross-datacentre network
    cross = switch_tree(parse_topology("cdc384"))
    placement = basic_placement(cross)
    assert collect([placement[child] for child in cross.children[CROSSING]], cross.servers(CROSSING))[1] == 32


@pytest.mark.parametrize(("servers", "plan"), [(8, "cps"), (12, "6x2"), (15, "5x3")])
def test_the_testbed_picks(servers: int, plan: str) -> None:
    """GenTree, Section 5.2: 10^8 floats on a single switch."""
    made = valid("gentree", f"ss:{servers}", message_bytes=4 * 10**8)
    assert made.provenance["plans"] == {str(servers): {"plan": plan, "rearranged": []}}


def test_rearrangement_relieves_the_link_between_data_centres() -> None:
    plain, better = (make("gentree", "cdc384", message_bytes=4 * 10**8, options={"rearrange": word}) for word in ("false", "true"))
    assert verify_schedule(plain).valid
    assert verify_schedule(better).valid
    assert better.provenance["plans"]["crossing"]["rearranged"] == [400, 401]
    assert plain.provenance["plans"]["crossing"]["rearranged"] == []

    def senders(made: Schedule) -> int:
        """Servers of the first data centre that send to the second one while sums are collected."""
        across = (made.src < 256) & (made.dst >= 256) & (made.op == Op.REDUCE)
        return len(np.unique(made.src[across]))

    assert senders(plain) == 96  # the 128 servers there share that many blocks, and 32 come back to this side
    assert senders(better) == 12


def test_the_centre_of_a_tree_is_its_root_unless_said_otherwise() -> None:
    assert switch_tree(parse_topology("sym384")).root == 400
    assert switch_tree(parse_topology("cdc384")).children[CROSSING] == (400, 401)
    assert switch_tree(parse_topology("leafspine:3x2x4")).root == 15
    other = switch_tree(parse_topology("leafspine:3x2x4"), root=16)
    assert (other.root, other.children[16]) == (16, (12, 13, 14))
    for root in (6, 7, 8):
        valid("gentree", "tree:2x3", options={"root": str(root)})


@pytest.mark.parametrize("network", ["leafspine:3x2x4", "fattree:3x4"])
def test_the_choice_of_a_top_switch_does_not_change_the_plan(network: str) -> None:
    """Not the plan types, and not who sends what to whom when: GenTree, Section 4.2, on root choice."""
    roots = central_switches(parse_topology(network))
    assert len(roots) > 1
    made = [make("gentree", network, options={"root": str(root)}) for root in roots]
    columns = [[getattr(entry, name).tolist() for name in ("chunk", "op", "step", "src", "dst")] for entry in made]
    names = [sorted(local["plan"] for local in entry.provenance["plans"].values()) for entry in made]
    assert all(entry == columns[0] for entry in columns)
    assert all(entry == names[0] for entry in names)


def test_factorizations() -> None:
    assert factorizations(12) == [(6, 2), (4, 3), (3, 4), (3, 2, 2), (2, 6), (2, 3, 2), (2, 2, 3)]
    assert factorizations(7) == []


def test_as_many_floats_as_servers_are_enough() -> None:
    valid("gentree", "ss:12", message_bytes=48)
