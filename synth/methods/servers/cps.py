"""Co-located parameter servers: every endpoint sums up one share of the vector.

Source: GenTree, Section 2.1 (Fig. 1b) and Table 2.
"""

from certree.models.schedule.collective import SYMMETRIC_KINDS
from certree.models.schedule.schedule import Schedule
from certree.synth.candidate_prices import pairs_price
from certree.synth.method import Options, Request, method
from certree.synth.ranks.embedding import ROUNDS
from certree.synth.ranks.group_plans import direct_plan
from certree.synth.ranks.layout import Layout
from certree.synth.ranks.staged import scatter_and_gather


@method("cps", SYMMETRIC_KINDS, options=ROUNDS, order=18, side_by_side=True, takes_members=True, price=pairs_price)
def cps(request: Request, options: Options) -> Schedule:
    """Every endpoint sends share i of its vector to endpoint i, which adds the shares and sends the sum to all: one step per phase.

    One chunk for each endpoint. On any network: rows between endpoints that are not neighbours are routed.
    """
    nodes = request.members
    plans = [(0, direct_plan(len(nodes)))]
    return scatter_and_gather(request, Layout((len(nodes),), nodes), plans, method="cps", options=options)
