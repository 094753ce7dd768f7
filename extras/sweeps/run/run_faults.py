"""Why the run of a cell fails, though its schedule is valid."""

from certree.api.reports.run_report import holds
from certree.api.reports.text import counted
from certree.hw.engines.runs import Run


def fault_of(result: Run, planned: int) -> str | None:
    """Why a run fails, by the rule of `simulate`; None where it passes."""
    if holds(result, planned):
        return None
    if not result.data_ok or result.order_faults:
        return f"the run ends with {'wrong data' if not result.data_ok else 'additions in another order than is stated'}"
    return (
        f"the run is not as planned: {counted(result.late, 'rows')} late, {result.contention_cycles:,} cycles of contention of"
        f" {planned:,} planned, and {result.cycles:,} cycles for a closed form of {result.closed_form_cycles}"
    )
