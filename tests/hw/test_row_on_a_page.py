"""The row that the page on hardware explains bit by bit has these values in the exported tables."""

import re

import certree.api as ct
from tools.checkout import ROOT

_FIELD = re.compile(r"^\| `([\w\[\]]+)` \| (\d+):(\d+) \|$", re.MULTILINE)


def test_values_of_the_row(tmp_path) -> None:
    schedule = ct.synthesize("mesh:2x2", method="packing", size="4KiB")
    ct.export(schedule, "systemverilog", tmp_path / "tables")
    row = int((tmp_path / "tables" / "slots_0000.hex").read_text().split()[6], 16)
    layout = (tmp_path / "tables" / "CONTRACT.md").read_text().partition("`slot_row_t`")[2].partition("bits:\n")[2]
    bits = {name: (int(high), int(low)) for name, high, low in _FIELD.findall(layout.partition("`arrival_t`")[0])}
    page = (ROOT / "docs" / "how-to" / "hardware.md").read_text().partition("## A row, bit by bit")[2].partition("\n## ")[0]
    stated: dict[str, tuple[str, int]] = {}
    for names, places, values in re.findall(r"^\| (`[^|]+`) \| ([\d:, ]+) \| ([\d, ]+) \|", page, re.MULTILINE):
        for name, place, value in zip(names.split(", "), places.split(", "), values.split(", "), strict=True):
            stated[name.strip("`")] = place, int(value)
    assert {*stated} == {*bits}
    for name, (place, value) in stated.items():
        high, low = bits[name]
        assert place == (f"{high}:{low}" if high > low else f"{high}"), name
        assert row >> low & (1 << high - low + 1) - 1 == value, name
