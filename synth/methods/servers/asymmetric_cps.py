"""Asymmetric co-located parameter servers: at every switch each partial sum goes straight to where it is reduced.

Source: GenTree, Section 4.2: the basic sub-plans of Algorithm 1, which are its asymmetric co-located PS where the children of a
switch have unequal numbers of servers (Fig. 7b).
"""

from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.gentree.plan import basic_placement, basic_plans, there_and_back
from certree.synth.gentree.switch_tree import switch_tree
from certree.synth.method import METHODS, Request, read_options, require_collective, whole_number
from certree.synth.ranks.embedding import ROUNDS


@METHODS.register("asymmetric-cps")
def asymmetric_cps(request: Request) -> Schedule:
    """Co-located parameter servers switch by switch up a tree, whatever its shape: one step a level and phase.

    As many chunks as endpoints. Option root=NODE: the switch at the top, by default the centre of the tree. Needs a tree of
    switches with endpoints as leaves, as `gentree` does.
    """
    require_collective(request, "asymmetric-cps", SYMMETRIC_KINDS)
    known = {**ROUNDS, "root": whole_number(None, 0, len(request.topology.kind) - 1)}
    options = read_options(request, "asymmetric-cps", known)
    tree = switch_tree(request.topology, options["root"])
    return there_and_back(request, tree, basic_placement(tree), basic_plans(tree), method="asymmetric-cps", options=options)
