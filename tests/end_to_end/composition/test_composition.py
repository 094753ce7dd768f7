"""Every form of schedules with every command that takes one: it works, or is refused with a reason that is listed."""

from pathlib import Path

import pytest

from tests.end_to_end.composition.consumers import CONSUMERS, INTERNAL_ERROR, Case, Cell
from tests.end_to_end.composition.forms import FORMS
from tests.end_to_end.composition.matrix import PAGE, fault, page

each_form = pytest.mark.parametrize("form", FORMS)


def check(form: str, folder: Path, *, is_slow: bool) -> None:
    """All cells of a form, as they are listed."""
    FORMS[form].write(folder)
    faults = []
    for name, consumer in CONSUMERS.items():
        if consumer.is_slow is is_slow:
            (folder / name).mkdir()
            found = consumer.cell(Case(FORMS[form], folder, folder / name))
            assert found.code != INTERNAL_ERROR, f"{form}, {name}: {found.message}"
            if (wrong := fault(form, name, found)) is not None:
                faults.append(f"{form}, {name}: {wrong}")
    assert not faults, "\n".join(faults)


@each_form
def test_cells(form: str, tmp_path: Path) -> None:
    check(form, tmp_path, is_slow=False)


@each_form
def test_cells_that_take_seconds(form: str, tmp_path: Path) -> None:
    check(form, tmp_path, is_slow=True)


def test_a_difference_to_the_list_is_a_fault() -> None:
    refused = Cell(2, "error: node 0 sends chunk 0 in step 1 and receives it later; only slots keep the two apart: run it slotted")
    assert fault("fine-buffers", "paced", refused) is None
    assert "works now" in str(fault("fine-buffers", "paced", Cell(0, "")))
    assert "otherwise than listed" in str(fault("fine-buffers", "paced", Cell(2, "error: another")))
    assert "otherwise than listed" in str(fault("fine-buffers", "paced", Cell(1, refused.message)))
    assert fault("steps", "paced", Cell(0, "")) is None
    assert "is not listed" in str(fault("steps", "paced", refused))
    assert "is not listed" in str(fault("steps", "compare", Cell(None, "")))


def test_the_page_is_the_generated_one() -> None:
    assert PAGE.read_text() == page(), "`python -m tests.end_to_end.composition.matrix` writes it anew"
