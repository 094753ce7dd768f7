"""GenTree: a plan for a tree of switches, its types chosen by GenModel.

Source: GenTree, Section 4.2, Algorithms 1 and 2, Figs. 6 and 7.
"""

from dataclasses import replace
from fractions import Fraction

from certree.extras.costs.make.plan import basic_placement, choose_plans, there_and_back
from certree.extras.costs.make.plan_family import best_plans
from certree.extras.costs.make.plan_timer import PlanTimer
from certree.extras.costs.model.flows.time import FlowTimer, Reading
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, load_genmodel
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.graphs.switch_tree import CROSSING, switch_tree
from certree.synth.method import Option, Options, Request, Variant, choice, flag, method, node_of
from certree.synth.ranks.embedding import ROUNDS


def _known_options(request: Request) -> dict[str, Option]:
    return {
        **ROUNDS,
        "root": node_of(request),
        "rearrange": flag(True),
        "plans": choice("greedy", "best"),
        "model": Option(str, "gentree", "a preset or a file ending in .toml"),
    }


@method(
    "gentree",
    SYMMETRIC_KINDS,
    options=_known_options,
    order=6,
    is_sized=True,
    variants=[Variant({"rearrange": "false"}, in_auto=False)],
)
def gentree(request: Request, options: Options) -> Schedule:
    """At every switch of a tree the plan type that is cheapest by GenModel for this message size; bottom-up, then back down.

    As many blocks as endpoints, summed up at every switch by its children: cps, f0xf1x..., ring or rhd where they have equally many
    endpoints, asymmetric cps elsewhere; where it pays, a child first gathers its results on a subset (rearrange=false: never).
    Options: root=NODE, a switch, by default the centre; model=NAME or FILE.toml, GenModel's parameters (`gentree`: Table 5);
    plans=best: instead of the greedy choice the best of the same family by its transfers (`certree.extras.costs.make.plan_family`).
    The provenance lists the choice at each switch. Needs a tree of switches with endpoints as leaves; further top switches of a
    fat tree or leaf-spine carry routes but do not count.
    """
    if options["plans"] == "best" and not options["rearrange"]:
        raise InputError("gentree: plans=best decides on rearrangement itself; rearrange=false is for plans=greedy")
    model = load_genmodel(options["model"])
    tree = switch_tree(request.topology, options["root"])
    placement = basic_placement(tree)
    floats = Fraction(request.message_bytes, FLOAT_BYTES)
    servers = len(request.topology.endpoints)
    if floats < servers:
        raise UnsupportedError(
            f"gentree: a message of {request.message_bytes} bytes leaves servers without data; {servers} servers need"
            f" {servers * FLOAT_BYTES} bytes, a float each"
        )
    if options["plans"] == "best":
        plans = best_plans(PlanTimer(tree, placement, FlowTimer(request.topology, model, floats, Reading("busiest")))).plans
    else:
        plans = choose_plans(tree, placement, model, floats, rearrange=options["rearrange"])
    made = there_and_back(request, tree, placement, plans, method="gentree", options=options)
    chosen = {
        "crossing" if switch == CROSSING else str(switch): {"plan": plans[switch].name, "rearranged": sorted(plans[switch].moved)}
        for switch in tree.order
    }
    return replace(made, provenance={**made.provenance, "plans": chosen})
