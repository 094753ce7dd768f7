"""Arguments that a benchmark refuses."""

from types import ModuleType

import pytest


def assert_refused(program: ModuleType, arguments: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`main` ends with exit code 2, prints nothing, and says in one line on stderr what is wrong."""
    with pytest.raises(SystemExit) as ended:
        program.main(arguments.split())
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith(f"{program.__name__.rpartition('.')[2]}: {told}")
    assert said.err.count("\n") == 1
