"""Sweeps with endpoints: cells, what they equal, plots, and what is refused before anything runs."""

from fractions import Fraction

import pytest

import certree.api as ct
from certree.extras.sweeps.run.results.figures import figures

ASKED = {
    "networks": ["ring:4"],
    "sizes": ["256KiB"],
    "methods": ["ring"],
    "runs": ["paced"],
    "endpoints": ["none", "baseline", "ace:chunk=16KiB"],
    "sram": ["64KiB", "4MiB"],
    "state_machines": [1, 16],
}


def test_cells_are_runs_with_endpoints(tmp_path):
    """Each equals the run of its system; other systems than engines have one cell."""
    made = ct.synthesize("ring:4", method="ring", size="256KiB")
    rows = list(ct.sweep(ASKED, tmp_path / "out", workers=1).rows())
    assert [(row["endpoint"], row["sram"], row["state_machines"]) for row in rows] == [
        ("none", None, None), ("baseline", None, None),
        *(("ace:chunk=16KiB", sram, machines) for sram in (65536, 1 << 22) for machines in (1, 16)),
    ]  # fmt: skip
    for row in rows:
        sizes = "" if row["sram"] is None else f":sram={row['sram']}:state-machines={row['state_machines']}"
        run = ct.simulate(made, run="paced", endpoint=row["endpoint"] + sizes)
        assert (row["simulated_cycles"], row["data_ok"]) == (run.cycles, True)
    assert len({row["simulated_cycles"] for row in rows}) > 3
    assert [Fraction(row.get("engine_square_micrometres", 0)) for row in rows][-1] == 5339031
    assert "engine_watts" not in rows[1]
    drawn = figures(rows)
    assert {"endpoint", "sram", "state_machines"} <= drawn.keys()
    assert [line.name for line in drawn["sram"][1].panels[0].series] == ["state machines: 1", "state machines: 16"]
    assert (tmp_path / "out" / "plots" / "sram.svg").exists()


def test_a_size_that_does_not_fit_is_a_row_with_its_reason(tmp_path):
    asked = ASKED | {"endpoints": ["ace"], "sram": ["64KiB"], "state_machines": [16]}
    (row,) = ct.sweep(asked, tmp_path / "out", workers=1).rows()
    assert (row["status"], row["simulated_cycles"]) == ("valid", None)
    assert "262144 bytes in partition 1 of 2, which has 32768" in row["not_simulated"]
    assert not figures([row])


def test_skip_names_endpoints():
    skip = [{"endpoint": "ace*", "sram": "65536"}, {"endpoint": "none"}]
    assert [cell.choice.system for cell in ct.plan_sweep(ASKED | {"skip": skip}).plan.cells] == [
        "baseline", "ace:chunk=16KiB:sram=4194304:state-machines=1", "ace:chunk=16KiB:sram=4194304:state-machines=16",
    ]  # fmt: skip


def test_keys_of_cells_without_endpoints_stay():
    plain = {name: value for name, value in ASKED.items() if name not in ("endpoints", "sram", "state_machines")}
    (cell,) = ct.plan_sweep(plain).plan.cells
    assert ct.plan_sweep(ASKED).plan.cells[0].key == cell.key
    assert len(ct.plan_sweep(ASKED).plan.by_key) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"endpoints": ["dpu"]}, "unknown system 'dpu'; known: none, baseline"),
        (
            {"endpoints": ["ace:sram=1MiB"]},
            "expected NAME:OPTION=VALUE, OPTION one of chunk, sram, state-machines, period, spacing, each once",
        ),
        ({"endpoints": ["ace", "ace"]}, ": endpoints: ace is listed twice"),
        ({"endpoints": ["none"]}, "sram is for endpoints; name systems"),
        (
            {"endpoints": ["baseline", "ideal"]},
            "sram and state_machines are for systems with an engine, and none of endpoints has one",
        ),
        ({"runs": ["none"]}, "runs has none, and endpoints are simulated: take either out"),
        ({"state_machines": [0]}, "state_machines"),
        ({"endpoint_params": "nowhere"}, "unknown endpoint 'nowhere'"),
    ],
)
def test_refusals(changes, words):
    with pytest.raises(ct.InputError, match=words):
        ct.plan_sweep(ASKED | changes)
