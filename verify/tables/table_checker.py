"""`verify_tables`: the rows of network interfaces in, a verdict out. The exporter is not trusted.

The schedule that the rows execute is checked by every rule of `verify_schedule`, and the other fields (addresses, sizes,
dependencies, arrivals, slot length, digest) are recomputed. Transfer numbers in messages refer to the transfers of
`Tables.schedule`; `rows` of a violation are table rows, counted over all nodes from 0.
"""

from certree.models.common.budget import budgeted
from certree.models.common.errors import InputError, short
from certree.models.fine.forwarding import unkept_waits
from certree.models.schedule.timing import slot_timing
from certree.models.tables.table_form import order_faults, row_faults, size_faults
from certree.models.tables.tables import Tables
from certree.verify.certificates.quality import quality_of
from certree.verify.checker import check_transfers
from certree.verify.order.additions import additions_of
from certree.verify.order.expressions import read_expression
from certree.verify.rule import STRUCTURAL, Stage, Subject, check, rule, run_checks
from certree.verify.tables.dependencies import Moves, report
from certree.verify.verdict import Findings, Verdict


@budgeted()
@rule(
    "digest",
    "the rows execute a schedule other than the named one",
    'schedule_digest = "0000"',
    Subject.TABLES,
)
def verify_tables(tables: Tables) -> Verdict:
    """The verdict on the tables of all nodes.

    `docs/reference/rules.md` lists the rules that come in addition to those of `verify_schedule`.
    O(rows log rows + transfers · endpoints / 64), independent of `repeats` and of the message.
    """
    findings = Findings()
    run_checks(Subject.TABLES, tables, findings, Stage.FORM)
    try:
        schedule = tables.schedule
    except InputError as error:  # no root for a flow, or several, or one that is not an endpoint
        findings.add("tree", 0, (), f"the rows make no {tables.collective.kind}: {error}")
        return findings.verdict()
    if schedule.digest != tables.schedule_digest:
        findings.add(
            "digest",
            schedule.steps,
            (),
            f"the rows are those of schedule {schedule.digest[:16]}..., not the one they are said to be",
        )
    replayed, moves = Findings(), Moves.of(tables)
    check_transfers(schedule, replayed)
    findings.include(replayed, moves.row[moves.order])
    if findings.rules & STRUCTURAL:
        return findings.verdict()
    run_checks(Subject.TABLES, tables, findings, Stage.WIRING, Stage.LOAD, Stage.CONTENTS, Stage.FURTHER)
    return findings.verdict(quality_of(schedule))


@check(Subject.TABLES, Stage.FORM)
@rule(
    "row",
    "a row commands nothing, or has a child after a nil, twice or out of order",
    "children.1 = [2, 0]",
    Subject.TABLES,
)
@rule("order", "rows are not sorted, or two agree in step, op and flow", "rows = [1, 0, 2]", Subject.TABLES)
@rule("size", "a row's size does not follow from message, K, repeats and granule", "size.0 = 1", Subject.TABLES)
@rule("address", "a row's address does not follow from message, K, repeats and granule", "addr.0 = 1", Subject.TABLES)
def check_rows(tables: Tables, findings: Findings) -> None:
    """Report rows whose fields are wrong, whatever they command."""
    for faults in (row_faults, order_faults, size_faults):
        report(faults(tables), findings)


@check(Subject.TABLES)
@rule(
    "forwarding",
    "fine slots: a message enters a link earlier or later than its planned waits say, because routers send on first come, first "
    "served",
    "tests/verify/tables/test_fine_tables.py",
    Subject.TABLES,
)
def check_forwarding(tables: Tables, findings: Findings) -> None:
    """Check that planned waits are those that routers make by themselves; where lanes have too much to carry this is unknown."""
    if tables.fine_slots and not findings.rules & {"link", "self", "reserved", "waiting", "route"}:
        for words in unkept_waits(tables.schedule):
            findings.add("forwarding", 0, (), words)


@check(Subject.TABLES)
@rule(
    "slot",
    "a slot is shorter than serialization, latency and reduction need (`models/schedule/timing.py`, recomputed)",
    "slot_cycles = 1",
    Subject.TABLES,
)
def check_slot(tables: Tables, findings: Findings) -> None:
    """Check that a slot lasts at least as long as its slowest transfer and reduction; for rows without a link this is unknown."""
    if findings.rules & {"link", "self"} or tables.fine_slots:
        return
    timing = slot_timing(tables.schedule, tables.message_bytes, tables.machine)
    if tables.slot_cycles < timing.slot_cycles:
        terms = (
            f"serialization {timing.ser}, latency {timing.lat}, reduction {timing.red}, work {timing.work}, delay {tables.delay}"
        )
        findings.add("slot", 0, (), f"a slot of {tables.slot_cycles} cycles is too short; needed: {timing.slot_cycles} ({terms})")


@check(Subject.TABLES, Stage.FURTHER)
@rule(
    "additions",
    "the rows do not add every chunk in the order that the tables state, or leave it to the order of arrival",
    "tests/hw/engines/test_stated_order.py",
    Subject.TABLES,
)
def check_additions(tables: Tables, findings: Findings) -> None:
    """Check that a stated order of additions is that of the rows, and fixed by their slots. O(rows)."""
    if tables.additions is None or findings.rules:
        return
    found = additions_of(tables.schedule)
    if found is None:
        findings.add("additions", 0, (), f"an order of additions is stated; {tables.collective.kind} adds nothing")
    elif not found.is_fixed:
        words = f"{found.ties} operands arrive together with others"
        findings.add("additions", 0, (), f"the order {short(tables.additions)} is stated; {words}")
    else:
        try:
            stated = read_expression(tables.additions, tables.collective.ranks_of(tables.topology)).text
        except InputError as error:
            findings.add("additions", 0, (), f"the order {short(tables.additions)} is stated; {error}")
            return
        if found.expression != stated:
            words = f"{found.orders} orders" if found.expression is None else f"the order {short(found.expression)}"
            findings.add("additions", 0, (), f"the order {short(tables.additions)} is stated; the rows add in {words}")
