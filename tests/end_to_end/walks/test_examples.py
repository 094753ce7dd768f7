"""Every file of examples/ runs, here or in the gallery of `make docs`, and the table of its README names all of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples"
FILES = sorted(path.name for path in FOLDER.glob("*.py"))
GALLERY = [
    f"{name}.py" for name in re.findall(r"/examples/(\w+)\.py\)", (FOLDER.parent / "docs" / "gallery" / "index.md").read_text())
]


@pytest.mark.parametrize("name", ["check_foreign.py", *sorted({*FILES} - {*GALLERY})])
def test_it_runs(name: str, tmp_path: Path) -> None:
    if name == "train_in_jax.py":
        pytest.importorskip("jax", reason="JAX is not installed (certree[jax])")
    ended = subprocess.run([sys.executable, FOLDER / name], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout or list(tmp_path.iterdir())


def test_the_table_names_all() -> None:
    named = re.findall(r"^\| `(\w+\.py)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(named) == FILES


def test_the_gallery_has_twenty() -> None:
    assert len(GALLERY) == len({*GALLERY}) == 20
    assert {*GALLERY} <= {*FILES}
