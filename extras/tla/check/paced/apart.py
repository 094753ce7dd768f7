"""The steps by which counters of neighbours that execute given tables can be apart, which a folder of an interface states."""

from certree.extras.tla.check.paced.chains import Program, are_few, steps_apart
from certree.models.tables.tables import Tables


def most_apart(tables: Tables) -> int | None:
    """The most steps by which counters of nodes can be apart, of which one sends to the other and both have rows, at any timing.

    None where no two nodes are so; of messages of several sizes, which have no model; in fine slots, where rows are numbered by
    their order and counters show other numbers; and where chains of waits are too many (`are_few`).
    O(firings · (nodes + waits)).
    """
    if tables.has_sizes or tables.fine_slots or not are_few(tables):
        return None
    return steps_apart(Program.of(tables, tables.period or 1, tables.repeats), pairs_of(tables)) or None


def pairs_of(tables: Tables) -> list[tuple[int, int]]:
    """The nodes of which one sends to the other."""
    sent = tables.transfers()
    return sorted(
        {(min(pair), max(pair)) for pair in zip(sent["src"].tolist(), sent["dst"].tolist(), strict=True) if pair[0] != pair[1]}
    )
