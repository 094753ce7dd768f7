"""`python -m tests.packaging.editor`: pyright, set up by pyproject.toml as in an editor, resolves every import of the checkout.

Pyright looks at one generated module with all of them: that is minutes faster than all modules, whose types mypy checks.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.checkout import ROOT, tracked

GENERATED = ROOT / "build" / "editor" / "imports.py"
OURS = ("certree", "tests", "tools")


def imports(source: str) -> Iterator[str]:
    """The import statements in a module that name modules of this checkout, a statement for each name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.partition(".")[0] in OURS:
            yield from (f"from {node.module} import {alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (f"import {alias.name}" for alias in node.names if alias.name.partition(".")[0] in OURS)


def main() -> int:
    """The exit code of pyright."""
    found = sorted({line for name in tracked("*.py") for line in imports((ROOT / name).read_text())})
    GENERATED.parent.mkdir(parents=True, exist_ok=True)
    GENERATED.write_text("\n".join(found) + "\n")
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}  # without a look at which version is the newest
    command = [Path(sys.executable).with_name("pyright"), "--project", ROOT, GENERATED]  # not that of a folder above
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
