"""A stated order of additions: in the manifest, in the verdict, and in runs in which operands come in another order."""

from dataclasses import replace
from pathlib import Path

import pytest

import certree.api as ct
from certree.api.reports.order_report import order_words
from certree.api.reports.schedule_report import schedule_report
from certree.hw.tables.directory import export_tables, read_tables
from certree.models.machine.machine import load_machine
from certree.verify.checker import verify_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.cli.running import certree, json_of
from tests.verify.build import REDUCE, build

CHAIN = "(((0,1),2),3)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of a reduce to node 0 that adds by rank."""
    made = build("full:4", "reduce", "1+0; 2+0; 3+0", collective_root=0)
    path = tmp_path_factory.mktemp("stated") / "tables"
    assert ct.export(made, "readmemh", path, size="4KiB").additions == CHAIN
    return path


def test_kept_in_slots(folder: Path) -> None:
    assert ct.verify(folder).valid
    document = json_of("simulate", folder)
    assert (document["stated_order"], document["out_of_order"], document["faults"]) == (CHAIN, 0, [])


@pytest.mark.parametrize(
    "options", [["--run", "paced", "--engine", "flit"], ["--allow-late"], ["--run", "paced", "--engine", "lanes"]]
)
def test_an_operand_that_comes_late_is_a_fault(folder: Path, options: str) -> None:
    """Node 1 starts when all others have sent: its operand, the first in the order, is added last. The data are right."""
    done = certree(
        "simulate", folder, "--skew", "1=100000", "--without-routers" if "flit" not in options else "--allow-late", *options
    )
    assert done.code == 1
    assert "  data: right at every rank" in done.out
    assert "  out-of-order: node 0 adds chunk 0 of iteration 0 from node 1 (step 0) after that from node 3 (step 2)" in done.out


def test_tables_that_take_over(folder: Path, tmp_path: Path) -> None:
    """Both runs follow their operands; node 1 is late in each."""
    for epoch in (1, 2):
        export_tables(replace(read_tables(folder), epoch=epoch), tmp_path / f"epoch{epoch}")
    switch = ("simulate", tmp_path / "epoch1", "--then", tmp_path / "epoch2", "--without-routers")
    document = json_of(*switch)
    assert document["out_of_order"] == document["switched"]["then"]["out_of_order"] == 0
    late = certree(*switch, "--skew", "1=900")
    assert (late.code, late.out.count("  out-of-order: node 0 adds chunk 0")) == (1, 2)


def test_rows_in_another_order_are_refused(folder: Path, tmp_path: Path) -> None:
    tables = read_tables(folder)
    swapped = replace(tables, additions="(((0,2),1),3)")
    (violation,) = verify_tables(swapped).violations
    assert (violation.rule, violation.message) == (
        "additions",
        "the order '(((0,2),1),3)' is stated; the rows add in the order '(((0,1),2),3)'",
    )
    assert verify_tables(replace(tables, additions="( 3,(2,(1, 0)))")).valid  # the same order in other words
    (violation_of_none,) = verify_tables(replace(tables, additions="((0,1),2)")).violations
    assert violation_of_none.message.endswith("stated; order: rank 3 is missing; each of the 4 ranks must stand once")
    export_tables(swapped, tmp_path / "swapped")
    assert certree("verify", tmp_path / "swapped").code == 1
    done = certree("simulate", tmp_path / "swapped")
    assert (done.code, violation.message in done.out + done.err) == (1, True)


def test_others_state_none(tmp_path: Path) -> None:
    """Where operands arrive together no order is stated, and none may be."""
    tables = ct.export(ct.synthesize("ring:4", method="one-shot", size="4KiB"), "json", tmp_path / "ring")
    assert tables.additions is None
    assert "stated_order" not in json_of("simulate", tmp_path / "ring")
    (violation,) = verify_tables(replace(tables, additions=CHAIN)).violations
    assert violation.message == f"the order {CHAIN!r} is stated; 8 operands arrive together with others"


def test_none_is_stated_where_messages_may_be_late(tmp_path: Path) -> None:
    """All messages of a node pass one interface to its router: `verify` says that they may be late, and tables state no order."""
    made = build("full:4", "reduce", "1+0; 2+0; 3+0", collective_root=0)
    machine = load_machine("multitree")
    shared = replace(machine, router=replace(machine.router, interfaces="node"))
    assert ct.export(made, "json", tmp_path / "tables", size="4KiB", machine=shared).additions is None
    schedule = ct.synthesize("hypercube:2", method="recursive-doubling", size="4KiB", machine=shared)
    late = schedule_report(schedule, verify_schedule(schedule), 4096, shared)
    assert late["order"]["fixed_by"] == "slots"
    assert late["order"]["may_change"] == late["router_effect"] is not None
    assert order_words(late)[0].endswith(f"fixed by the slots, unless messages are late: {late['router_effect']}")


def test_packets_of_a_schedule_state_none() -> None:
    """In packets chunks are cut, and may be added in several orders; only tables that state one are refused then."""
    made = ct.synthesize("ring:5", method="ordered-exchange", size="1KiB", time_limit="0.01s")
    whole, cut = ct.simulate(made), ct.simulate(made, flow="packet")
    assert whole.stated_order is not None
    assert (cut.stated_order, cut.data_ok, cut.order_faults) == (None, True, ())


def test_more_faults_than_are_listed_are_counted(tmp_path: Path) -> None:
    """In each of ten chunks the operands of two nodes come before that of node 1; the first eight are listed."""
    rows = [(chunk, REDUCE, 3 * chunk + node - 1, node, 0) for chunk in range(10) for node in (1, 2, 3)]
    made = build("full:4", "reduce", rows, collective_root=0, chunks=10)
    ct.export(made, "json", tmp_path / "tables", size="64KiB")
    done = certree("simulate", tmp_path / "tables", "--run", "paced", "--skew", "1=100000")
    assert done.code == 1
    assert done.out.count("out-of-order: node 0 adds") == 8
    assert "  out-of-order: 2 more" in done.out
