"""TLC on several tables in one process of Java: starting Java and loading TLC takes longer than a small model."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from certree.extras.tla.check.model_runs import specs_folder
from certree.extras.tla.check.table_model import extent_of_success, model_check_tables, table_model_files
from certree.extras.tla.check.tlc import EXIT_CODES, Result
from certree.extras.tla.check.tlc_jar import find_java, tlc_jar
from certree.models.tables.tables import Tables

SECONDS = 300.0  # for each model
_DRIVER = Path(__file__).with_name("ManyModels.java")
_ENDED = re.compile(r"^model ended with code (\d+)$", re.MULTILINE)
_STATES = re.compile(r"^(\d+) states generated, (\d+) distinct states found, 0 states left on queue\.$", re.MULTILINE)


def model_check_together(tables: Sequence[Tables]) -> list[tuple[Result, int | None]]:
    """TLC's result and the number of distinct states for each of the tables, which must be small enough for all states.

    One process for each of them where Java has no compiler for the driver.
    """
    assert all(extent_of_success(one)[0] == "exhaustive" for one in tables)
    java = find_java()
    if not (Path(java).resolve().parent / "javac").exists():
        alone = [model_check_tables(one, SECONDS) for one in tables]
        return [(Result(one.result), one.distinct_states) for one in alone]
    with tempfile.TemporaryDirectory(prefix="certree-models-") as folder:
        lines = [_arguments(Path(folder) / str(number), one) for number, one in enumerate(tables)]
        command = [java, "-Xmx1g", "-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-DTLA-Library={specs_folder()}"]
        command += [str(_DRIVER), str(tlc_jar())]
        done = subprocess.run(
            command, input="\n".join(lines), cwd=folder, capture_output=True, text=True, timeout=SECONDS * len(tables), check=False
        )
    outputs = _ENDED.split(done.stdout)
    assert len(outputs) == 2 * len(tables) + 1, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return [_answer(output, int(code)) for output, code in zip(outputs[:-1:2], outputs[1::2], strict=True)]


def _arguments(folder: Path, tables: Tables) -> str:
    """The arguments of TLC for the model of the tables, written to a folder."""
    folder.mkdir()
    paths = {}
    for name, text in table_model_files(tables).items():
        paths[Path(name).suffix] = folder / name
        paths[Path(name).suffix].write_text(text)
    words = ["-tool", "-workers", "1", "-metadir", str(folder / "states"), "-lncheck", "final", "-fp", "0"]
    return "\t".join([*words, "-config", str(paths[".cfg"]), str(paths[".tla"])])


def _answer(output: str, code: int) -> tuple[Result, int | None]:
    states = _STATES.findall(output)
    return EXIT_CODES[code], int(states[-1][1]) if states else None
