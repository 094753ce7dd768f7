"""Asymmetric co-located parameter servers: at every switch each partial sum goes straight to where it is reduced.

Source: GenTree, Section 4.2: the basic sub-plans of Algorithm 1, which are its asymmetric co-located PS where the children of a
switch have unequal numbers of servers (Fig. 7b).
"""

from certree.extras.costs.make.plan import basic_placement, basic_plans, there_and_back
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.graphs.switch_tree import switch_tree
from certree.synth.method import Options, Request, method, node_of
from certree.synth.ranks.embedding import ROUNDS


@method("asymmetric-cps", SYMMETRIC_KINDS, options=lambda request: {**ROUNDS, "root": node_of(request)}, order=7)
def asymmetric_cps(request: Request, options: Options) -> Schedule:
    """Co-located parameter servers switch by switch up a tree of any shape: one step per level and phase.

    As many chunks as endpoints. Option root=NODE: the switch at the top, by default the centre of the tree. Needs a tree of
    switches with endpoints as leaves, as `gentree` does.
    """
    tree = switch_tree(request.topology, options["root"])
    return there_and_back(request, tree, basic_placement(tree), basic_plans(tree), method="asymmetric-cps", options=options)
