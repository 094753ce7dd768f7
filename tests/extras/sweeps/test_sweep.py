"""`certree sweep`: cells, results, resumption, failures, and what it refuses before anything runs."""

import json
import os
import signal
import subprocess
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

import certree.api as ct
from certree.extras.sweeps.run.plan import SweepPlan
from certree.extras.sweeps.run.results.table import COLUMNS
from certree.extras.sweeps.run.specification import read_specification
from tests.cli.running import assert_bad_input, certree, json_of, start
from tests.extras.sweeps.specifications import SMALL, contents, table, written


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with SMALL, run by two workers."""
    where = tmp_path_factory.mktemp("sweep")
    done = certree("sweep", written(where), "-o", where / "out", "--workers", 2)
    assert done.code == 0, done
    assert done.out == "Sweep: 12 not applicable, 12 valid\n"
    return where / "out"


def test_every_combination_is_a_row(swept):
    rows = table(swept)
    assert [row["failures"] for row in rows].count("1 link") == 2 * 2 * 3
    assert {row["network"] for row in rows if row["failures"] == "1 link"} == {"mesh:2x3"}
    drawn = {row["drawn"] for row in rows if row["failures"] == "1 link"}
    assert all(name.startswith("mesh:2x3,without-link=") for name in drawn)
    for row in rows:
        assert row["message"].startswith("hdrm needs a BiGraph") == (row["method"] == "hdrm")
        assert (row["status"] == "valid") == (row["message"] == "") == (row["time_cycles"] != "")


def test_the_table_has_a_column_for_everything(swept):
    assert {name for path in (swept / "cells").iterdir() for name in json.loads(path.read_text())} <= set(COLUMNS)


def test_numbers_are_those_of_compare(swept):
    cells = ct.compare("mesh:2x3", sizes=["4KiB"], methods=["multitree"]).cells
    (row,) = (row for row in table(swept) if (row["drawn"], row["method"], row["size"]) == ("mesh:2x3", "multitree", "4096"))
    for name in ("time_cycles", "simulated_cycles", "bandwidth_time", "bound_cycles", "transfers"):
        assert row[name] == str(cells[0][name])
    assert (row["gap_bandwidth"], row["data_ok"]) == (cells[0]["gap"]["bandwidth"], "true")


def test_options_that_fill_wide_links(tmp_path):
    asked = {"networks": ["a100:1"], "sizes": ["16MiB"], "methods": ["ring", "ring:channels=1"], "runs": ["none"]}
    filled, single = ct.sweep(asked, tmp_path / "out", workers=1).rows()
    assert (filled["options"], filled["time_cycles"]) == ("channels=12", 146_536)
    assert ("options" in single, single["time_cycles"]) == (False, 1_222_989)
    assert Fraction(single["time_bound_seconds"]) == Fraction(single["time_bound_cycles"], 10**9)


def test_collectives_of_some_endpoints_and_with_demands(tmp_path):
    """The rows are those of `compare`; a demand has its own size, and each machine its own granules."""
    (tmp_path / "demand.csv").write_text("0,640,320,0\n0,0,160,170\n480,0,0,160\n160,160,160,0\n")
    exchange = f"alltoallv:demand={tmp_path / 'demand.csv'}"
    fields = {"networks": ["ring:4"], "collectives": ["all-reduce:members=0-2", exchange], "sizes": ["1KiB", "4KiB"]}
    rows = list(ct.sweep(fields | {"methods": ["auto"]}, tmp_path / "out", workers=1).rows())
    wanted = ct.demand(tmp_path / "demand.csv", "ring:4")
    some = ct.compare("ring:4", ct.collective("all-reduce", members=[0, 1, 2]), sizes=["1KiB", "4KiB"], methods=["auto"]).cells
    cells = some + ct.compare("ring:4", ct.collective("alltoallv", demand=wanted), methods=["auto"]).cells
    assert [row["size"] for row in rows] == [1024, 4096, wanted.granules * 16]
    for name in ("time_cycles", "simulated_cycles", "transfers", "time_bound_cycles"):
        assert [row[name] for row in rows] == [cell[name] for cell in cells]
    alone = {"networks": ["ring:4"], "collectives": [exchange], "methods": ["direct"], "machines": ["default", "switch-fc"]}
    sizes = {cell.machine: cell.size for cell in ct.plan_sweep(alone).plan.cells}
    assert sizes == {"default": wanted.granules * 16, "switch-fc": ct.demand(tmp_path / "demand.csv", "ring:4", 32).granules * 32}


def test_a_changed_demand_is_another_cell(tmp_path):
    file = tmp_path / "demand.csv"
    fields = {"networks": ["ring:3"], "collectives": [f"alltoallv:demand={file}"], "methods": ["direct"]}
    keys = []
    for amount in (16, 17, 16):
        file.write_text(f"0,{amount},0\n0,0,0\n0,0,0\n")
        keys += [cell.key for cell in ct.plan_sweep(fields).plan.cells]
    assert keys[0] == keys[2] != keys[1]


def test_parquet_and_plots(swept):
    rows = pq.read_table(swept / "table.parquet").to_pylist()
    for mine, theirs in zip(rows, table(swept), strict=True):
        assert {name: "" if value is None else str(value).lower() for name, value in mine.items()} == {
            name: value.lower() for name, value in theirs.items()
        }
    assert {path.name for path in (swept / "plots").iterdir()} == {
        "failures.svg", "method.svg", "network.svg", "size.svg",
    }  # fmt: skip


def test_the_same_bytes_by_one_worker_and_after_an_interruption(swept, tmp_path):
    out = tmp_path / "out"
    process = start("sweep", written(tmp_path), "-o", out, "--workers", "1")
    while "1 of 24" not in process.stderr.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=100)[1]
    assert process.returncode == 130
    assert "the same command resumes" in said
    kept = len(list((out / "cells").iterdir()))
    assert 1 <= kept < 24
    again = certree("sweep", written(tmp_path), "-o", out, "--workers", 1)
    assert f"{kept} of 24 cells are there already" in again.err
    assert f"{24 - kept} cells run" in again.err
    assert contents(out) == contents(swept)


def test_damaged_cells_are_computed_again(swept, tmp_path):
    subprocess.run(["cp", "-r", str(swept), str(tmp_path / "out")], check=True)
    cell = next((tmp_path / "out" / "cells").iterdir())
    cell.write_bytes(cell.read_bytes()[:20])
    assert "1 cell run" in certree("sweep", written(tmp_path), "-o", tmp_path / "out").err
    assert contents(tmp_path / "out") == contents(swept)


def test_failures_are_results_and_can_be_repeated(tmp_path):
    """Here by a limit of time that none can keep."""
    changes = {"networks": ["ring:4"], "methods": ["ring"], "sizes": ["1KiB"], "failures": None, "draws": None, "skip": None}
    spec, out = written(tmp_path, **changes, time_limit="1ms"), tmp_path / "out"
    done = certree("sweep", spec, "-o", out)
    assert done.code == 3
    assert done.out == ("Sweep: 1 failed\n  failed: ring:4 all-reduce 1024 ring default 0 slotted: took more than 0.001 s\n")
    assert "1 of 1 cells are there already" in certree("sweep", spec, "-o", out).err
    cell = next((out / "cells").iterdir())
    repeated = certree("sweep", spec, "-o", out, "--retry")
    assert "1 cell run" in repeated.err
    assert json.loads(cell.read_text())["status"] == "failed"


def test_dry_run_lists_cells_and_runs_nothing(swept, tmp_path):
    spec = written(tmp_path)
    done = certree("sweep", spec, "--dry-run", "--workers", 2)
    assert len(done.out.splitlines()) == 24
    assert "24 cells; about" in done.err
    assert "a rough rule for 24 of 24" in done.err
    assert not (tmp_path / "out").exists()
    planned = json_of("sweep", spec, "-o", swept, "--dry-run")
    assert (planned["present"], planned["unmeasured"], planned["estimated_cpu_seconds"]) == (24, 0, 0)
    assert json_of("sweep", spec, "-o", swept)["cells"][0]["status"] == "valid"


def test_times_are_estimated_by_cells_like_them(swept):
    planned = ct.plan_sweep(SMALL, swept)
    assert planned.cpu_seconds == 0
    key = next(iter(planned.plan.by_key))
    cell = swept / "cells" / f"{key}.json"
    data = cell.read_bytes()
    cell.unlink()
    try:
        again = ct.plan_sweep(SMALL, swept)
    finally:
        cell.write_bytes(data)
    assert again.unmeasured == 0
    assert 0 < again.cpu_seconds < 5


def test_networks_in_files_go_to_the_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert certree("topology", "convert", "torus:3x3,capacity=1/2", "-o", "net.json").code == 0
    fields = {"sizes": ["1KiB"], "methods": ["multitree"]}
    done = ct.sweep(fields | {"networks": ["net.json", "net.json,without-node=4"]}, "out")
    assert done.counts == {"valid": 2}
    named = ct.sweep(fields | {"networks": ["torus:3x3,capacity=1/2", "torus:3x3,capacity=1/2,without-node=4"]}, "named")
    cycles = [[row["time_cycles"] for row in one.rows()] for one in (done, named)]
    assert cycles[0] == cycles[1]


def test_the_example_is_complete():
    """All fields, with the defaults where it says so."""
    import tomllib

    document = tomllib.loads(ct.sweep_example())
    plan = SweepPlan(read_specification(document))
    needed = ("title", "networks", "sizes", "methods")
    bare = SweepPlan(read_specification({name: document[name] for name in needed}))
    assert {cell.key for cell in plan.cells} == {
        cell.key for cell in bare.cells if not (cell.network.startswith("mesh:") and cell.method.startswith("ring:"))
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sizs": ["1KiB"]}, "spec.toml: unknown field 'sizs'; did you mean 'sizes'? known: title, networks"),
        ({"sizes": None}, "spec.toml: sizes is missing"),
        ({"sizes": ["1 furlong"]}, "spec.toml: sizes: size '1 furlong'"),
        ({"sizes": ["1KiB", "1024B"]}, "sizes: 1024 is listed twice"),
        ({"networks": ["tours:4x4"]}, "spec.toml: networks: unknown topology 'tours:4x4'"),
        ({"networks": "ring:4"}, "networks is 'ring:4'; expected a list"),
        ({"methods": ["rign"]}, "did you mean 'ring'?"),
        ({"methods": ["ring:turbo=1"]}, "methods: ring: unknown option 'turbo'"),
        ({"methods": ["ring-all-to-all"]}, "ring-all-to-all makes none of the collectives all-reduce; it makes all-to-all"),
        ({"collectives": ["broadcast"]}, "collectives: broadcast needs a root"),
        ({"collectives": ["broadcast@5"], "methods": ["auto"]}, "root 5 is not an endpoint of ring:4"),
        ({"collectives": ["broadcast@x"]}, "expected KIND or KIND@ROOT"),
        ({"collectives": ["all-reduce:members=0,9"], "methods": ["auto"]}, "collectives: member 9 is not an endpoint of ring:4"),
        ({"collectives": ["all-reduce:members=0,x"]}, "members '0,x': 'x'; allowed: ids"),
        ({"collectives": ["all-reduce:member=0,1"]}, "expected KIND:NAME=VALUE, NAME one of members, relay, demand, each once"),
        ({"collectives": ["all-reduce:members=0,1:members=0,2"]}, "NAME one of members, relay, demand, each once"),
        ({"collectives": ["all-reduce:demand=d.csv"]}, "a demand is for alltoallv, not for all-reduce"),
        ({"collectives": ["alltoallv:demand=d.csv:members=0,1"]}, "the members of an alltoallv follow from its demand"),
        ({"collectives": ["alltoallv"]}, "alltoallv needs a demand"),
        ({"collectives": ["alltoallv:demand=none.csv"], "methods": ["direct"]}, "cannot read none.csv"),
        ({"machines": ["dgx"]}, "machines: unknown machine 'dgx'"),
        ({"failures": [4], "skip": None}, "failures: ring:4 less 4 links and 0 nodes: none of 1000 draws"),
        ({"failures": ["one"]}, "failures has 'one'; expected whole numbers of links"),
        ({"failures": [{"lnks": 1}]}, "did you mean 'links'?"),
        ({"draws": 0}, "draws is 0; allowed: whole numbers from 1"),
        ({"seeds": [-1]}, "seeds 0 is -1; allowed: whole numbers from 0"),
        ({"runs": ["pasted"]}, "unknown runs 'pasted'; did you mean 'paced'? known: slotted, paced, none"),
        ({"bounds": "dear"}, "unknown bounds 'dear'; known: searched, cheap"),
        ({"time_limit": "soon"}, "time_limit: time 'soon'"),
        ({"skip": [{"netwrok": "*"}]}, "skip 1: unknown field 'netwrok'; did you mean 'network'? known: network, collective"),
        ({"skip": [{"network": "*"}]}, "every combination is left out by skip"),
    ],
)
def test_bad_specifications(tmp_path, changes, reason):
    assert_bad_input(certree("sweep", written(tmp_path, **changes), "-o", tmp_path / "out"), reason)
    assert not (tmp_path / "out").exists()


def test_bad_command_lines(tmp_path, swept):
    spec = written(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    for arguments, reason in (
        ((), "SPEC.toml is missing"),
        ((tmp_path / "none.toml", "-o", tmp_path / "out"), "cannot read"),
        ((spec,), "-o is missing"),
        ((spec, "-o", tmp_path / "full"), "exists and holds no results of a sweep"),
        ((written(tmp_path, "other.toml", effort=2), "-o", swept), "holds results of another specification (other effort)"),
        ((spec, "-o", tmp_path / "out", "--workers", "0"), "0 is not in the range x>=1"),
        ((spec, "-o", tmp_path / "out", "--scheduler", "localhost"), "expected an address such as tcp://HOST:8786"),
    ):
        assert_bad_input(certree("sweep", *arguments), reason)
