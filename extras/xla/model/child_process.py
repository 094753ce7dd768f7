"""Processes of their own, for JAX and its parser: scripts of this extra that import nothing of certree."""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path


class OvertimeError(Exception):
    """The process did not end within its time."""


def run_script(
    script: str, argument: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a script, `package:file`, with a path, and wait for it: its exit code and what it wrote.

    `environment`: by default that of this process. The script sees no module of the folder that it is in. Raises OvertimeError.
    """
    package, _, name = script.partition(":")
    with as_file(files(package) / name) as child:
        command = [sys.executable, "-P", str(child), str(argument)]
        try:
            return subprocess.run(command, capture_output=True, env=environment, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise OvertimeError from None


def cpu_environment(*dropped: str) -> dict[str, str]:
    """The variables of this process for JAX on the CPU, without those whose names begin with one of `dropped`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {"JAX_PLATFORMS": "cpu"}


def last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that a process wrote to standard error, or nothing."""
    return (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
