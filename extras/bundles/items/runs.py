"""Simulated runs."""

from collections.abc import Iterator, Mapping
from typing import Any

from certree.api.reports.run_report import simulation_report
from certree.api.runs.any_timing import with_proof
from certree.extras.bundles import reading
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.hw.engines.runs import MODES, Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run, tables_or_plan
from certree.models.common.errors import InputError, UnsupportedError, short
from certree.models.common.files import canonical_json
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables


@EVIDENCE.register("runs")
class RunsEvidence(Evidence):
    """simulated cycle by cycle with real data, every node ends with its result after the stated cycles"""

    needs = ("schedule", "tables")
    by_hand = (
        "`unzip F.certree 'tables/*' && certree simulate tables`, with `--without-routers` where `runs/` states it; `runs/` "
        "has what `certree simulate --json` printed"
    )

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """A document for each mode."""
        prepared = source.tables or _from_transfers(source.given)
        found = {}
        for mode in source.runs:
            document = _ran(prepared, mode, without_routers=source.without_routers)
            if not document["data_ok"]:
                raise InputError(f"the {mode} run ends with wrong data; it cannot go into a bundle")
            found[f"{reading.RUNS}/{mode}.json"] = canonical_json(document)
        if not found:
            raise absent("none was asked for")
        return found

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Run again what the bundle has, and compare."""
        prepared = opened.tables or _from_transfers(opened.bundle.schedule)
        for mode, stated in reading.runs(opened.bundle).items():
            if mode not in MODES:
                raise InputError(f"runs of mode {short(mode)} are not known; known: {', '.join(MODES)}")
            without_routers = stated.get("without_routers") is True
            yield _compared(f"{name}: {mode}", stated, _ran(prepared, mode, without_routers=without_routers))


def _from_transfers(schedule: AnySchedule) -> Tables | SimulatedSchedule:
    """The program of a schedule without tables; UnsupportedError for one that cannot run."""
    if schedule.made_for is None:
        raise UnsupportedError("the schedule does not say for which size and machine it was made")
    return tables_or_plan(schedule, schedule.made_for.message_bytes, schedule.made_for.machine)


def _ran(prepared: Tables | SimulatedSchedule, mode: str, *, without_routers: bool) -> dict[str, Any]:
    """The document of a run; it says where routers were left out."""
    options = with_proof(prepared, Options(mode=mode, without_routers=without_routers))
    return simulation_report(run(prepared, options), prepared) | ({"without_routers": True} if without_routers else {})


def _compared(name: str, stated: Mapping[str, Any], true: Mapping[str, Any]) -> ItemResult:
    """The result for a run: stated and true documents must be the same."""
    for key in [*true, *stated]:
        if key not in true or key not in stated or canonical_json(stated[key]) != canonical_json(true[key]):
            here = f"states {key} = {short(stated[key])}" if key in stated else f"does not state {key}"
            there = f"; the run has {short(true[key])}" if key in true else ", which runs do not have"
            return ItemResult(name, Status.FAILED, here + there)
    if not true["data_ok"]:
        return ItemResult(name, Status.FAILED, "the run ends with wrong data")
    closed = true["closed_form_cycles"]
    agreement = (
        "no closed form" if closed is None else "as the closed form" if closed == true["cycles"] else f"closed form {closed:,}"
    )
    waits = f"contention {true['contention_cycles']:,}, late rows {true['late']:,}"
    told = f"{true['cycles']:,} cycles ({agreement}), {waits}, data right at every rank; {true['engine']} engine"
    told += ", without routers" if "without_routers" in true else ""
    return ItemResult(name, Status.RERAN, f"{told}, machine {true['machine']}")
