"""Routers that add something to a closed form: verify, export and simulate accept the schedule, and name what they add."""

from pathlib import Path

import pytest

from tests.cli.running import certree, json_of

LOOP = "buffers of 318 flits do not cover the loop of a credit, 404 cycles"
USED_UP = "1 virtual channels are used up before the pipeline has routed the next packet"
PACED = ("--collective", "reduce-scatter", "--option", "of=symmetric", "--option", "from=paced", "--chunks", "64")


@pytest.mark.parametrize(
    ("network", "method", "size", "asked", "cycles", "added", "effect"),
    [
        # drawn at random: messages wait for credits and rows are late; chunks that are asked for are not cut
        pytest.param("ace-torus:4x2x2", "retime", "1MiB", PACED, 8_820, 449, LOOP, id="fine slots"),
        # layers with one virtual channel each: by hand in tests/hw/routers/test_one_channel.py
        pytest.param(
            "torus:8x8,without-link=0-1",
            "two-shot",
            "256B",
            ("--collective", "all-gather"),
            1_233,
            1,
            USED_UP,
            id="routes in layers",
        ),
    ],
)
def test_one_answer(
    network: str, method: str, size: str, asked: tuple[str, ...], cycles: int, added: int, effect: str, tmp_path: Path
) -> None:
    file, tables = tmp_path / "s.json", tmp_path / "tables"
    made = certree("synthesize", network, "--method", method, "--size", size, *asked, "-o", file)
    assert made.code == 0
    verified, exported = json_of("verify", file), json_of("export", file, "-o", tables)
    assert (verified["valid"], verified["time_cycles"], verified["router_effect"]) == (True, cycles, effect)
    assert exported["router_effect"] == effect
    for source in (file, tables):
        ran = json_of("simulate", source)  # exit code 0
        assert (ran["cycles"], ran["closed_form_cycles"], ran["data_ok"]) == (cycles + added, cycles, True)
        assert ran["router_effect"] == effect
    told = certree("simulate", tables)
    assert f"closed form: {cycles:,} cycles, without what routers add: +{added:,} cycles" in told.out
