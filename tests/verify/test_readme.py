"""The rules that the README explains are the rules that the judges have."""

import re
from pathlib import Path

import certree.verify
from certree.verify.bounds.witness import load_witnesses
from certree.verify.exact.refutations.refutation import load_refutations

FOLDER = Path(str(certree.verify.__file__)).parent
README = (FOLDER / "README.md").read_text()


def test_every_rule_in_the_code_is_in_the_readme() -> None:
    code = "\n".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")))
    named = set(
        re.findall(r'(?:findings\.add(?:_each)?|_report|tell_rows|WitnessError|ProofError)\((?:[a-z_]+, )*"([a-z-]+)"', code)
    )
    named |= {"certificate-topology", "certificate-schedule", "address", "size"}
    explained = set(re.findall(r"`([a-z-]+)`", README))
    assert len(named) >= 24
    assert named <= explained, named - explained


def test_every_kind_of_refutation_is_in_the_readme() -> None:
    table = README[README.index("## Frontiers") :]
    assert all(f"| `{kind}` |" in table for kind in load_refutations())


def test_every_kind_of_witness_is_in_the_readme() -> None:
    table = README[README.index("## Bounds") :]
    assert all(f"| `{kind}` |" in table for kind in load_witnesses())
