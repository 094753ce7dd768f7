"""What commands print in a terminal of 80 or 120 columns, in one without colors, and in a pipe."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from functools import cache

import pytest

from certree.cli.words.table import column_widths
from certree.cli.words.terminal import reflowed
from tests.cli.running import PROGRAM, certree

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
COMPARE = ("compare", "torus:4x4", "--size", "64MiB", "--methods", "multitree,ring-2d:form=sequential")


@cache
def in_terminal(*arguments: str, columns: int, streams: str = "out", **environment: str) -> str:
    """What a command writes to a terminal of that width: its stdout, or both streams."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    error = theirs if streams == "both" else subprocess.DEVNULL
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdout=theirs, stderr=error, stdin=subprocess.DEVNULL, env=clean | {"TERM": "xterm"} | environment
    ):
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:  # how Linux tells that the other end is closed
            pass
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("arguments", [COMPARE, ("list", "packing"), ("bound", "mesh:4x4"), ("reproduce",)], ids=" ".join)
def test_lines_fit_the_terminal(arguments, columns):
    shown = ESCAPE.sub("", in_terminal(*arguments, columns=columns))
    assert "?" not in shown
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize("columns", [80, 120])
def test_cells_of_a_table_stay_whole(columns):
    """In 80 columns some are left out, in 120 none."""
    shown = ESCAPE.sub("", in_terminal(*COMPARE, columns=columns, streams="both"))
    piped = certree(*COMPARE).out
    kept = ["3,802,687", "4,589,439", "3.803 ms", "1.9340", "33.33 %"]
    more = ["17.65", "14.62", "5/8", "3/4"]
    assert all(number in piped for number in kept + more)
    assert all(re.search(rf"(?<!\S){re.escape(number)}(?!\S)", shown) for number in (kept if columns == 80 else kept + more))
    assert ("left out in this narrow terminal: contention, steps" in shown) is (columns == 80)


def test_a_narrow_terminal_gets_a_line_for_each_cell():
    shown = in_terminal(*COMPARE, columns=40)
    assert "method: multitree\ncycles: 3,802,687\n" in shown


def test_verdicts_are_colored(tmp_path):
    right, wrong = tmp_path / "right.csv", tmp_path / "wrong.csv"
    right.write_text("chunk,op,src,dst,step\n0,copy,0,1,0\n")
    wrong.write_text("chunk,op,src,dst,step\n0,copy,1,0,0\n")
    for path, color in ((right, "32"), (wrong, "31")):
        asked = ("verify", str(path), "--topology", "ring:3,without-node=2", "--collective", "broadcast", "--root", "0")
        assert f"\x1b[{color}m" in in_terminal(*asked, columns=120)
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            assert "\x1b" not in in_terminal(*asked, columns=120, **plain)
        assert "\x1b" not in certree(*asked).out


def test_tables_without_color():
    assert "\x1b[1m" in in_terminal(*COMPARE, columns=120)
    assert "\x1b" not in in_terminal(*COMPARE, columns=120, NO_COLOR="1")


def test_the_next_step_is_for_people_only():
    both = in_terminal("bound", "ring:4", columns=80, streams="both")
    assert "certree synthesize ring:4 -o schedule.json" in ESCAPE.sub("", both)
    assert "next" not in in_terminal("bound", "ring:4", "--json", columns=80, streams="both")
    assert certree("bound", "ring:4").err == ""


def test_progress_shows_percent():
    shown = ESCAPE.sub("", in_terminal(*COMPARE, columns=120, streams="both"))
    assert " 50%" in shown


def test_widths_of_columns():
    names, right = ["name", "cycles so far"], [False, True]
    cells = [["a text of several words", "1,234"], ["b", "5"]]
    assert column_widths(names, right, cells, None) == [23, 13]
    assert column_widths(names, right, cells, 30) == [15, 13]
    assert column_widths(names, right, cells, 15) == [7, 6]
    assert column_widths(names, right, cells, 14) is None


def test_paragraphs_are_joined_and_tables_are_not():
    assert reflowed("One\ntwo.\n\n| a |\n| b |\n  - c\n  - d\nEnd\nhere.") == "One two.\n\n| a |\n| b |\n  - c\n  - d\nEnd here."
