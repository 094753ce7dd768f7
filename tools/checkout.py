"""The files of the checkout."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def tracked(*patterns: str) -> list[Path]:
    """The files that git knows, below `ROOT`, of all or of some patterns; all files where there is no git and no pattern."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=bool(patterns))
    if listed.returncode == 0:
        return [Path(name) for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
