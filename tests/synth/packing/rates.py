"""What every network that trees are packed into has to do at its rate."""

import numpy as np

from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.synth.packing.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.packing.spanning_trees import Fabric
from certree.synth.packing.trees import TreeFamily


def packed(fabric: Fabric, collective: Collective, moves: int = 0) -> TreeFamily:
    """Trees, as many as the rate promises, not one more, the same for the same seed."""
    trees, period = fabric.tight
    assert fabric.strength * period == trees
    family, again = (fabric.pack(collective, trees, period, moves=moves, seed=0) for _ in range(2))
    assert family is not None
    assert again is not None
    assert (family.chunks, family.period) == (trees, period)
    assert np.array_equal(family.up, again.up)
    assert np.array_equal(family.down, again.down)
    assert family.routes == again.routes
    assert family.chain >= (1 if collective.is_rooted else 2) * fabric.least_height(period)
    assert fabric.pack(collective, trees + fabric.multiple, period, moves=0, seed=0) is None
    return family


def slotted(family: TreeFamily, *, repeats: int = 50) -> Schedule:
    """The schedule of a family with delay 2, of that many iterations a period apart."""
    rules = SlotRules(2, family.period if repeats > 1 else None, 0)
    slots, _ = assign_slots(family, rules, work=1000)
    assert slots is not None
    return slotted_schedule(family, slots, rules, repeats, {})
