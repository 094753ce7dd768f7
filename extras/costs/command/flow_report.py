"""`certree simulate --engine flow`: steps of a schedule as flows on the links of a network, timed by GenModel."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.api_errors import InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.api.reports.text import one_line, size_words
from certree.api.settings import message_size
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note, show
from certree.extras.costs.model.flows.time import reading_and_pauses
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.run.flow_timing import flow_time

PICOSECONDS = 10**12


def simulate_by_flows(path: Path, size: int | None, model: str, reading: Mapping[str, str], *, as_json: bool) -> int:
    """Time a schedule file and show it; exit code 1, and no time, when it is invalid."""
    (chosen, pauses), parameters = reading_and_pauses(reading), load_genmodel(model)
    schedule = schedule_of(path)
    message_bytes = message_size(schedule, size, note)
    try:
        with working("simulating"):
            time = flow_time(schedule, size=message_bytes, model=parameters, reading=reading)
    except InvalidScheduleError as error:
        note(f"invalid, and not simulated: {error.verdict.violations[0].message}")
        return 1
    parts = {"start_up": time.start_up, "transfer": time.transfer, "reduction": time.reduction}
    read_as = ", ".join([chosen.sharing, f"pauses {pauses}"]) if pauses else str(chosen)
    document: dict[str, Any] = {
        "topology": schedule.topology.name,
        "collective": str(schedule.collective.kind),
        "engine": "flow",
        "model": parameters.name,
        "reading": read_as,
        "message_bytes": message_bytes,
        "steps": time.steps,
        "seconds": str(time.seconds),
        "picoseconds": round(time.seconds * PICOSECONDS),
        **{f"{name}_seconds": str(seconds) for name, seconds in parts.items()},
    }
    if pauses:
        document |= {"pauses": time.pauses, "lost_seconds": str(time.lost)}
    show(document, _words, as_json=as_json)
    return 0


def _words(document: Mapping[str, Any]) -> str:
    parts = {name: float(Fraction(document[f"{name}_seconds"])) for name in ("start_up", "transfer", "reduction")}
    lost = (
        f", of which {document['pauses']:,} pauses take {float(Fraction(document['lost_seconds'])):.6g} s"
        if "pauses" in document
        else ""
    )
    where = f"{size_words(document['message_bytes'])} on {one_line(document['topology'])}"
    return "\n".join(
        [
            f"flows of {where}: {float(Fraction(document['seconds'])):.6g} s in {document['steps']:,} steps",
            f"  start-up {parts['start_up']:.6g} s, transfer {parts['transfer']:.6g} s{lost}, reduction {parts['reduction']:.6g} s",
            f"  parameters {one_line(document['model'])}; read as {document['reading']}",
        ]
    )
