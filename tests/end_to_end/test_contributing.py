"""Each recipe of CONTRIBUTING.md works in a copy of the checkout, with the files that it shows and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.contributing import Recipe, copied, recipes
from tests.end_to_end.pages import without_times

PROGRAMS = Path(sys.executable).parent


def test_there_is_a_recipe_for_each_kind_of_addition() -> None:
    kinds = (
        "topology family",
        "format of network files",
        "synthesis method",
        "checker rule",
        "format of tables",
        "format of programs",
        "cost model",
        "lowering",
        "TLA+ model",
        "reproduction target",
    )
    assert {recipe.title.partition(" ")[2] for recipe in recipes()} == set(kinds)


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.title)
def test_recipe(recipe: Recipe, tmp_path: Path) -> None:
    checkout = copied(tmp_path)
    recipe.apply(checkout)
    code = [path for path in recipe.files if path.endswith(".py")]
    for arguments in (["check", "--no-cache"], ["format", "--check", "--no-cache"]) if code else ():
        subprocess.run([PROGRAMS / "ruff", *arguments, *code], cwd=checkout, check=True)
    assert recipe.commands
    for command in recipe.commands:
        how = f"{command.line}: `python -m tests.end_to_end.contributing` writes the outputs anew"
        assert without_times(command.run(str(checkout), checkout / "bin")) == without_times(command.shown), how
