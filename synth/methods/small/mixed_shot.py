"""Between one shot and two: some dimensions of a network are summed up in shares, the others by sending whole vectors.

The method is certree's. It sends fewer bytes along some dimensions and takes fewer steps along others.
"""

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.shots import by_dimension, widest_first
from certree.synth.method import Options, Request, Tier, Variant, choice, method, whole_number
from certree.synth.ranks.layout import MAX_FACTORS


@method(
    "mixed-shot",
    [CollectiveKind.ALL_REDUCE],
    options={"scattered": whole_number(1, 1, MAX_FACTORS), "begins": choice("any", "widest")},
    variants=[Variant({"begins": "widest"}, is_first=True)],
    published=False,
    tier=Tier.SMALL,
    order=65,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def mixed_shot(request: Request, options: Options) -> Schedule:
    """Two shots along the first dimensions that a chunk takes, one shot along the others; in fine slots.

    A chunk is summed up in shares along `scattered` dimensions, then those that hold a share send it to all others along each other
    dimension, and the sums return along the scattered dimensions. Options: scattered=D, below the number of dimensions; begins=any:
    pieces of the message begin with different dimensions; begins=widest: all pieces begin with the dimension of the widest links,
    and `scattered` dimensions or more have shares.
    """
    scattered = options["scattered"]
    if options["begins"] == "widest":
        programs = widest_first(request, range(scattered, MAX_FACTORS))
    else:
        programs = by_dimension(request, scattered)
    return in_fine_slots(request, programs, "mixed-shot", options)
