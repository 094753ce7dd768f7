"""Edits of the reduction unit that would add in another order: a proof catches each."""

import shutil
from pathlib import Path

import pytest

from tests.rtl.cases import CASES, QUICK, export
from tests.rtl.proofs import prove
from tests.rtl.tools import yosys

REDUCER = "certree_ni_reducer.sv"
#: what would happen -> (before, after)
EDITS = {
    "of one cycle the highest lane first": (
        "for (int unsigned l = LANES; l > 0; l--)",
        "for (int unsigned l = 1; l <= LANES; l++)",
    ),
    "what is ready before what waits": ("rest != 0 ? rest : is_stored ? later[taken] : ready", "rest != 0 ? rest : ready"),
    "of what waits the newest first": ("is_stored ? later[taken]", "is_stored ? later[stored - 1'b1]"),
    "what is ready with the oldest": ("head = rest != 0 ? rest", "head = rest != 0 ? rest | ready"),
    "what waits before the rest of the oldest": (
        "head = rest != 0 ? rest : is_stored",
        "head = rest != 0 && !is_stored ? rest : is_stored",
    ),
    "a lane's second chunk first": ("its_turn <= turn[lane];\n        turn[lane] <= !turn[lane];", "its_turn <= turn[lane];"),
}


@pytest.mark.skipif(yosys() is None, reason="needs Yosys")
def test_another_order_is_refused(tmp_path: Path) -> None:
    export(CASES[QUICK](), tmp_path / "right")
    text = (tmp_path / "right" / REDUCER).read_text()
    for number, (what, (before, after)) in enumerate(EDITS.items()):
        assert text.count(before) == 1, what
        edited = tmp_path / str(number)
        shutil.copytree(tmp_path / "right", edited)
        (edited / REDUCER).write_text(text.replace(before, after))
        assert "Assert failed in certree_ni_reducer: reducer_" in prove("reducer", tmp_path, edited), what
