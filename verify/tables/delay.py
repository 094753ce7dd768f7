"""The delay that tables state, compared with the delay of their rows: simulators run rows, whatever delay is stated."""

from dataclasses import replace

from certree.models.common.errors import InputError
from certree.models.tables.tables import Tables
from certree.verify.rule import Stage, Subject, checks
from certree.verify.tables.table_checker import check_slot
from certree.verify.verdict import Findings, Verdict

_RULES = frozenset({"dependency", "slot"})


def delay_verdict(tables: Tables) -> Verdict | None:
    """The verdict on tables whose stated delay is not their own; None where it is, or where no other delay would make them valid.

    It is not their own where rows use data before it has landed (`dependency`), or slots are too short for it (`slot`), though with
    another delay both would be right. O(rows log rows) for each delay that is tried, as many as a number of
    steps has binary digits.
    """
    if tables.fine_slots:  # of delay 1, which says nothing
        return None
    try:
        stated = _findings(tables)
        if not stated.rules & _RULES:
            return None
        if "dependency" in stated.rules:
            is_lower = tables.delay > 1 and "dependency" not in _findings(replace(tables, delay=1)).rules
            return stated.verdict() if is_lower else None
        # the longer the delay, the shorter the slots that are enough, and the later data has landed
        low, high = tables.delay + 1, int(tables.step.max(initial=0)) + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if "slot" in _findings(replace(tables, delay=middle)).rules else (low, middle)
        if low == high and not _findings(replace(tables, delay=low)).rules & _RULES:
            return stated.verdict()
    except InputError:  # rows without links or roots, which the simulator refuses in its own words
        return None
    return None


def _findings(tables: Tables) -> Findings:
    """The violations that depend on the delay: of dependencies and of the slot."""
    found = Findings()
    for entry in checks(Subject.TABLES, Stage.WIRING):
        entry.run(tables, found)
    check_slot(tables, found)
    return found
