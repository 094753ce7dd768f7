"""Programs that other tools wrote: `programs.txt` has what comes of those in the folder that `CERTREE_CORPUS` names, if there is
one. The command and the function of the API agree."""

import os
from pathlib import Path

import pytest

import certree.api as ct
from certree.models.common.errors import InputError
from tests.cli.running import certree
from tests.extras.clusters.imports.corpus import rows

HERE = Path(__file__).parent
PUBLIC = Path(os.environ.get("CERTREE_CORPUS", HERE / "none"))


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="CERTREE_CORPUS names no folder")
@pytest.mark.parametrize(("name", "expected"), list(rows(HERE / "programs.txt")))
def test_verdict(name: str, expected: str) -> None:
    file, _, network = name.partition(" on ")
    told = certree("verify", PUBLIC / file, *(("--topology", network) if network else ()))
    first = (told.out or told.err).splitlines()[0].replace(f"{PUBLIC}/", "")
    assert first == expected
    if not expected.startswith("error: "):
        assert ct.verify(f"{PUBLIC / file}", topology=network or None).valid == expected.startswith("valid")
        return
    with pytest.raises(InputError) as refused:
        ct.verify(f"{PUBLIC / file}", topology=network or None)
    assert expected == f"error: {refused.value}".replace(f"{PUBLIC}/", "")
