"""Data frames: schedules come back as they were, and a wrong cell is named."""

import sys
from typing import Any

import pytest

import certree.api as ct
from certree.models.common.errors import InputError, ScheduleFormatError, ToolMissingError

pandas: Any = pytest.importorskip("pandas")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("network", "collective", "method"),
    [("fattree:2x3", "all-reduce", "ring"), ("mesh:2x3", "all-to-all", "ring-all-to-all"), ("switch:4", "all-reduce", "cps")],
)
def test_a_schedule_comes_back(network: str, collective: str, method: str, library: str) -> None:
    pytest.importorskip(library)
    made = ct.synthesize(network, collective, method=method, size="64KiB")
    frame = made.to_dataframe(library)
    assert type(frame).__module__.partition(".")[0] == library
    assert ct.Schedule.from_dataframe(frame, network, collective).digest == made.digest


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [("op", "add", "row 0: op 'add'"), ("route", "0-1", "row 0: route '0-1'"), ("dst", 7, "dst is 7; allowed")],
)
def test_a_wrong_cell_is_named(column: str, value: object, message: str) -> None:
    frame = ct.to_dataframe(ct.synthesize("ring:3", method="ring"))
    frame.loc[0, column] = value
    with pytest.raises(ScheduleFormatError, match=message):
        ct.from_dataframe(frame, "ring:3")


def test_missing_columns_and_unknown_libraries() -> None:
    schedule = ct.synthesize("ring:3", method="ring")
    with pytest.raises(ScheduleFormatError, match="no column step; needed: chunk, op, src, dst, step"):
        ct.from_dataframe(ct.to_dataframe(schedule).drop(columns="step"), "ring:3")
    with pytest.raises(InputError, match="unknown library 'numpy'"):
        ct.to_dataframe(schedule, "numpy")


@pytest.mark.parametrize(
    ("module", "message"),
    [("polars", "polars is not installed: pip install polars"), ("narwhals.stable.v1", r"pip install 'certree\[frames\]'")],
)
def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, module: str, message: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ToolMissingError, match=message):
        ct.to_dataframe(ct.synthesize("ring:3", method="ring"), "polars")


def test_what_is_no_data_frame_is_named() -> None:
    with pytest.raises(InputError, match="a dict is no data frame; allowed: those of pandas, polars, pyarrow"):
        ct.from_dataframe({"chunk": [0]}, "ring:3")


def test_what_is_no_schedule_is_refused_in_one_line() -> None:
    table = ct.compare("ring:3", sizes=["1KiB"], methods=["ring"])
    with pytest.raises(
        InputError, match=r"^a ComparedMethods is no schedule; results of compare, sweep and designs have \.frame\(\)$"
    ):
        ct.to_dataframe(table)
