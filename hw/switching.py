"""Runs in which tables take over from others while interfaces keep running (`docs/reference/tables.md`, "Banks")."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from certree.hw.engines.runs import Options, Run
from certree.hw.engines.traces import message_entries
from certree.hw.run import run
from certree.models.common.errors import InputError
from certree.models.common.shown import Shown
from certree.models.fine.slots import landing_steps
from certree.models.machine.clocks import Clocks
from certree.models.tables.table_columns import LOCKSTEP, MAX_EPOCH
from certree.models.tables.tables import Tables

_TOLD = 8  # messages of a wrong epoch that are named


@dataclass(frozen=True, repr=False)
class Switched(Shown):
    """The results of a run of `before`, all its iterations, and then of `after`; times in cycles from the start of the first.

    - `opens`: when the first interface opens the new tables; `cycles`: until the last chunk was written or reduced
    - `mixed`: messages that reached an interface which was executing the other tables, in words; of many the first few
    """

    before: Run
    after: Run
    opens: int
    cycles: int
    mixed: tuple[str, ...]

    @property
    def data_ok(self) -> bool:
        """Whether both runs end with the right data, and no message met the other tables."""
        return self.before.data_ok and self.after.data_ok and not self.mixed

    def title(self) -> str:
        """Mode and engines."""
        return f"switch of tables, {self.before.engine} and {self.after.engine} engine"

    def facts(self) -> dict[str, object]:
        """The cycle in which the tables changed, the end, and whether all was right."""
        data = "right" if self.data_ok else "wrong"
        return {"new tables": self.opens, "cycles": self.cycles, "mixed epochs": len(self.mixed), "data": data}


def run_switched(before: Tables, after: Tables, options: Options) -> Switched:
    """Run all iterations of `before`, then `after`, each on its own message, without a reset in between.

    Each interface opens the new tables by its own counter, when all messages of the old tables have landed by that counter
    (`boundary`). With equal clocks nothing is in flight then, and the second run begins where the first ended. With unequal clocks
    every message is checked: an old one that counts at an interface after the switch, or a new one that arrives before it, has the
    wrong epoch. An interface reports and drops it; the run goes on as if it had come in time, and lists it in `mixed`.

    Raises InputError for tables without epoch, or of another than the next one, of another network or machine, and for options that
    are for one run. Time and memory as of both runs, and with unequal clocks O(messages) memory.
    """
    _require_next(before, after)
    for name in ("trace", "others", "longest_wait", "observer"):
        if getattr(options, name) is not None:
            raise InputError(f"{name.replace('_', ' ')}: not for a run that switches tables; run each by itself")
    if options.mode != "slotted":
        raise InputError(f"a {options.mode} run has no slot in which tables could switch; run it slotted")
    clocks = options.clocks or Clocks.equal(len(before.topology.kind))
    opening = opening_cycles(before, clocks)
    first = min(opening)
    mixed: list[str] = []

    def look(tables: Tables, shift: int, *, is_new: bool) -> Options:
        def observe(engine: Any) -> None:
            mixed.extend(_mixed(engine, tables, opening, shift, is_new=is_new))

        return replace(options, observer=None if clocks.are_equal else observe, stated_order=tables.additions)

    start = after.machine.ni_start_cycles
    old = run(before, look(before, 0, is_new=False))
    later = Clocks(tuple(cycle - first for cycle in opening), clocks.drift)
    new = run(after, replace(look(after, first - start, is_new=True), clocks=None if clocks.are_equal else later))
    if clocks.are_equal and old.cycles > first:
        mixed.append(f"messages of epoch {before.epoch} count until cycle {old.cycles}; the new tables open in cycle {first}")
    more = (f"and {len(mixed) - _TOLD} more",) if len(mixed) > _TOLD else ()
    return Switched(old, new, first, first - start + new.cycles, (*mixed[:_TOLD], *more))


def boundary(tables: Tables) -> int:
    """The number of slots until all messages of the last iteration have landed, after which other tables may follow."""
    last = int(landing_steps(tables.schedule).max(initial=tables.delay))
    return (tables.repeats - 1) * (tables.period or 0) + last


def opening_cycles(tables: Tables, clocks: Clocks) -> list[int]:
    """For each node id the cycle in which its interface opens the tables that follow these."""
    cycles = boundary(tables) * tables.slot_cycles
    later = clocks.later(tables.machine.ni_start_cycles)
    return [skew + ceil(cycles * (1 + drift)) for skew, drift in zip(later.skew, later.drift, strict=True)]


def _require_next(before: Tables, after: Tables) -> None:
    for tables, which in ((before, "first"), (after, "second")):
        if tables.epoch is None:
            raise InputError(f"the {which} tables state no epoch; export them with --epoch")
        if tables.control == LOCKSTEP:
            raise InputError(f"the {which} tables are for lockstep, whose runs have a start of their own (B8); run each by itself")
    assert before.epoch is not None
    following = (before.epoch + 1) % (MAX_EPOCH + 1)
    if after.epoch != following:
        raise InputError(f"epoch {after.epoch} does not follow epoch {before.epoch}; allowed: {following}")
    for what, one, other in (
        ("network", before.topology.digest, after.topology.digest),
        ("machine", before.machine, after.machine),
    ):
        if one != other:
            raise InputError(f"the second tables are for another {what} than the first")


def _mixed(engine: Any, tables: Tables, opening: Sequence[int], shift: int, *, is_new: bool) -> Iterator[str]:
    """The messages of a run that an interface got while it was executing the other tables."""
    for entry in message_entries(engine.rows, engine.core.trace()):
        node = entry["destination"]
        when = shift + (entry["last_flit_arrived"] if is_new else entry["usable"])
        if (when < opening[node]) if is_new else (when > opening[node]):
            verb = "opens the new tables only" if is_new else "has opened the new tables"
            yield (
                f"node {node} gets a message of epoch {tables.epoch} from node {entry['node']} in cycle {when}; it {verb} in cycle "
                f"{opening[node]}"
            )
