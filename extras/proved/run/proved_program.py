"""The program of the proved checker: Coq checks the proofs and extracts it, OCaml compiles it; kept in the cache folder."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from certree.extras.tla.check.tlc_jar import cache_folder
from certree.models.common.errors import CertreeError, ToolMissingError
from certree.models.common.files import sha256

#: the modules in the order in which each needs those before it; the last one extracts the program
MODULES = ("Definitions", "Checker", "Keys", "Order", "Loads", "Contents", "Sound", "Lockstep", "Additions", "Extract")
DRIVER = "driver.ml"
#: what Coq prints for each theorem that rests on no axiom
NO_AXIOMS = "Closed under the global context"
_EXTRACTED = "checker.ml"
_TOOLS = ("coqc", "ocamlfind", "ocamlopt")
_PACKAGES = "coq ocaml-nox ocaml-findlib"  # of Debian
_SECONDS = 600  # a compilation takes a few


class ProofError(CertreeError):
    """Coq or OCaml does not accept the sources of the proved checker."""


def sources() -> Path:
    """The folder of the definitions, the checker and the proofs."""
    return Path(str(resources.files("certree.specs"))) / "proved"


def theorems(modules: Sequence[str]) -> list[str]:
    """The theorems of which modules ask what they rest on, in order."""
    texts = ((sources() / f"{name}.v").read_text() for name in modules)
    return [name for text in texts for name in re.findall(r"^Print Assumptions (\w+)\.$", text, re.MULTILINE)]


def compile_proofs(folder: Path, modules: Sequence[str] = MODULES, source: Path | None = None) -> list[str]:
    """Compile modules from scratch in a new folder, where the extracted program then is; returns what each theorem rests on.

    `source`: the folder of the modules, by default `sources()`. ToolMissingError without Coq; ProofError, with the first message
    of Coq, where a proof is wrong.
    """
    require_tools("coqc")
    folder.mkdir(parents=True, exist_ok=True)
    printed = []
    for name in modules:
        shutil.copyfile((source or sources()) / f"{name}.v", folder / f"{name}.v")
        printed += _run(folder, "coqc", "-q", "-R", ".", "Proved", f"{name}.v").splitlines()
    return printed


def proved_program() -> Path:
    """The program; compiled the first time, half a minute. ToolMissingError without Coq or OCaml; ProofError where a theorem rests
    on an axiom."""
    require_tools(*_TOOLS)
    texts = [(sources() / name).read_bytes() for name in (*(f"{name}.v" for name in MODULES), DRIVER)]
    versions = [_run(Path(), "coqc", "--version"), _run(Path(), "ocamlfind", "ocamlopt", "-version")]
    key = sha256(b"\0".join([*texts, *(text.encode() for text in versions)]))
    program = cache_folder() / f"proved-checker-{key[:32]}"
    if program.is_file():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent, prefix=".proved-") as name:
        folder = Path(name)
        if (printed := compile_proofs(folder)) != [NO_AXIOMS] * len(theorems(MODULES)):
            raise ProofError(f"a theorem rests on an axiom: {' '.join(printed)[:400]}")
        shutil.copyfile(sources() / DRIVER, folder / DRIVER)
        extracted = (f"{_EXTRACTED}i", _EXTRACTED, DRIVER)
        _run(folder, "ocamlfind", "ocamlopt", "-O3", "-w", "-a", *extracted, "-o", program.name)
        os.replace(folder / program.name, program)  # whole, or not there: several processes may do this at once
    return program


def require_tools(*names: str) -> None:
    """Raise ToolMissingError where a program is not on the path."""
    for name in names:
        if shutil.which(name) is None:
            raise ToolMissingError(f"there is no {name}; the proved checker needs Coq and OCaml: apt-get install {_PACKAGES}")


def _run(folder: Path, *command: str) -> str:
    """The output of a program; ProofError with its message where it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        said = " ".join(f"{done.stderr}{done.stdout}".split())
        raise ProofError(f"{' '.join(command[:2])} {command[-1]}: {said[:400]}")
    return done.stdout
