"""Methods compared on several networks, in Python: what is there at the end, after an interruption, and what is refused."""

import pytest

import certree.api as ct
from certree.extras.sweeps.run.comparing import comparison

ASKED = {"sizes": ["1KiB", "1MiB"], "methods": ["ring", "multitree"], "run": None}


def test_the_cells_of_each_network():
    found = ct.compare_networks(["ring:4", "full:4"], **ASKED)
    assert [one.topology.name for one in found] == ["ring:4", "full:4"]
    assert found.of[1].cells == ct.compare("full:4", **ASKED).cells
    frame = found.frame()
    assert list(frame["network"]) == ["ring:4"] * 4 + ["full:4"] * 4
    assert frame["seconds"].dtype == float
    assert repr(found).startswith("<ComparedNetworks all-reduce on 2 networks: ring:4 1 KiB ring ")


def test_an_interruption_keeps_what_is_done(monkeypatch):
    """On the second network, after one cell of it."""
    seen, shown = [], []
    cells = comparison._cells

    def stop(*given):
        for cell in cells(*given):
            yield cell
            seen.append(cell)
            if len(seen) == 5:
                raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "_cells", stop)
    with pytest.raises(KeyboardInterrupt):
        ct.compare_networks(["ring:4", "full:4"], **ASKED, interrupted=shown.append)
    assert [(one.topology.name, len(one.cells)) for one in shown[0]] == [("ring:4", 4), ("full:4", 1)]


@pytest.mark.parametrize(
    ("networks", "changed", "reason"),
    [
        ([], {}, r"networks: none is listed"),
        (["ring:4", "full:4", "ring:4"], {}, r"^ring:4 is listed twice"),
        (["ring:4", "full:4"], {"methods": ["rung"]}, r"unknown method 'rung'; did you mean 'ring'"),
        (["ring:4", "fuul:4"], {}, r"unknown topology 'fuul:4'"),
    ],
)
def test_refused_before_anything_runs(networks, changed, reason, monkeypatch):
    monkeypatch.setattr(comparison.Comparison, "cells", lambda *_: pytest.fail("a cell was run"))
    with pytest.raises(ct.InputError, match=reason):
        ct.compare_networks(networks, **{**ASKED, **changed})
