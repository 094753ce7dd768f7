"""News fragments: each is of a known kind and in the changelog of the next version."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_fragment_is_in_the_next_changelog() -> None:
    command = [Path(sys.executable).with_name("towncrier"), "build", "--draft", "--version", "next"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    fragments = sorted((ROOT / "changes").iterdir())
    assert fragments
    for path in fragments:
        first = path.read_text().splitlines()[0]
        assert f"- {first}" in shown, path.name
