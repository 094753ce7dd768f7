"""The layout of the source tree: small folders, each with a docstring that is its map."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tools.checkout import ROOT, tracked

FOLDERS = ("api", "models", "synth", "verify", "hw", "cli", "extras", "tools", "specs", "tests", "docs")
MOST_MODULES = 12  # .py files without __init__, x.cpp with its x.hpp as one


def modules_by_folder() -> dict[Path, set[str]]:
    """The names of the loose modules of each folder."""
    found: dict[Path, set[str]] = defaultdict(set)
    for path in tracked():
        if path.parts[0] in FOLDERS and path.suffix in (".py", ".cpp", ".hpp") and path.name != "__init__.py":
            found[path.parent].add(path.stem)
    return found


def test_no_folder_has_more_than_a_dozen_modules() -> None:
    crowded = {str(folder): len(names) for folder, names in modules_by_folder().items() if len(names) > MOST_MODULES}
    assert not crowded


def test_names_of_files_are_unique_in_the_kernel() -> None:
    kernel = ("api", "cli", "hw", "models", "synth", "verify")
    names = Counter(path.name for path in tracked() if path.parts[0] in kernel and path.suffix == ".py")
    assert not {name for name, count in names.items() if count > 1 and name != "__init__.py"}


PACKAGES = sorted(
    {path.parent for path in tracked() if path.name == "__init__.py" and path.parts[0] not in ("tests", "build", "examples")}
)


@pytest.mark.parametrize("folder", PACKAGES, ids=str)
def test_the_docstring_of_a_folder_names_its_subfolders(folder: Path) -> None:
    text = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text()))
    assert text
    parts = {package.name for package in PACKAGES if package.parent == folder}
    assert not {part for part in parts if f"`{part}`" not in text}


def test_every_folder_of_modules_is_a_package() -> None:
    """A folder without `__init__.py` would have no map, and would be missing from what import-linter and mypy look at. `hw/rtl` is
    exported, not imported."""
    apart = ("tests/", "docs/", "build/", "examples/", "hw/rtl/")
    python = {path.parent for path in tracked() if path.suffix == ".py" and not path.as_posix().startswith(apart)}
    assert python == set(PACKAGES)


PAGES = sorted(path for path in tracked() if path.suffix == ".md")
PATH = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|cpp|hpp|tla|toml|md|json))`")
WRITTEN = {"out/", "build/", ".github/"}  # what commands write, not part of the checkout


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_files_that_a_page_names_exist(page: Path) -> None:
    named = {name for name in PATH.findall((ROOT / page).read_text()) if not name.startswith(tuple(WRITTEN))}
    missing = {name for name in named if not any((folder / name).exists() for folder in (ROOT, ROOT / page.parent))}
    assert not missing


def test_slow_tests_are_tests_with_a_shorter_one_beside_them() -> None:
    """Each line of tests/slow.txt names a test of a file that has others."""
    for line in (ROOT / "tests" / "slow.txt").read_text().splitlines():
        file, _, rest = line.partition("::")
        text = (ROOT / file).read_text()
        assert f"def {rest.partition('[')[0]}(" in text, line
        assert "[" in rest or text.count("\ndef test_") > 1, line
