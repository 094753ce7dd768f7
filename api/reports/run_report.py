"""Reports on simulated runs: the JSON document of `simulate`, and the same in words."""

from fractions import Fraction
from typing import Any

from certree.api.reports.text import clock_words, one_line, run_times, size_words
from certree.hw.engines.router_transparency import MET_IN_NETWORK
from certree.hw.engines.runs import Engine, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.switching import Switched
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables


def holds(result: Run, planned: int = 0) -> bool:
    """Whether the run passes: right data, added in the stated order if there is one, and for slotted runs without background
    packets no contention but the `planned` one, no late rows, and the closed form, if there is one, met exactly. Only data and
    order count where endpoints take time, and where routers add something to the closed form (with equal clocks), which `verify`
    and `export` say of what they accept."""
    if result.mode != "slotted" or result.others is not None or result.endpoint is not None or left_out(result):
        return result.data_ok and not result.order_faults
    exact = result.closed_form_cycles in (None, result.cycles)
    return result.data_ok and not result.order_faults and exact and not result.late and result.contention_cycles == planned


def planned_cycles(schedule: Schedule) -> int:
    """The number of cycles that messages wait at routers by plan, in all iterations. O(rows)."""
    return int(fine_times(schedule).reservations.wait.sum()) * schedule.repeats if schedule.plans_waits else 0


def left_out(result: Run) -> bool:
    """Whether a slotted run with equal clocks has effects that its closed form leaves out: routers that are not transparent, as is
    known before it runs."""
    is_in_time = result.closed_form_cycles is not None or result.parts > 1
    return is_in_time and result.engine == Engine.FLIT and result.router_effect not in (None, MET_IN_NETWORK)


def simulation_report(result: Run, source: Tables | SimulatedSchedule) -> dict[str, Any]:
    """The JSON document of `simulate`."""
    return {
        "topology": source.topology.name,
        "collective": str(source.collective.kind),
        "source": result.source,
        "run": result.mode,
        "engine": result.engine,
        "cycles": result.cycles,
        **run_times(result.cycles, source.message_bytes, source.machine, source.collective, source.topology),
        "closed_form_cycles": result.closed_form_cycles,
        "contention_cycles": result.contention_cycles,
        **({"planned_cycles": planned_cycles(source.schedule)} if source.schedule.plans_waits else {}),
        "late": result.late,
        "exact": result.is_exact,
        "data_ok": result.data_ok,
        "max_link_utilization": None if result.max_link_utilization is None else str(result.max_link_utilization),
        "parts": result.parts,
        "flit_hops": result.flit_hops,
        "messages": result.messages,
        "message_bytes": source.message_bytes,
        "machine": source.machine.name,
        "wrong": None if result.wrong is None else {"rank": result.wrong[0], "chunk": result.wrong[1]},
        "deadlock": list(result.deadlock),
        **_order_document(result),
        **_endpoint_document(result),
    }


def _order_document(result: Run) -> dict[str, Any]:
    """The stated order of additions, where there is one, and what was not added in it."""
    if result.stated_order is None:
        return {}
    return {"stated_order": result.stated_order, "out_of_order": result.out_of_order, "faults": list(result.order_faults)}


def _endpoint_document(result: Run) -> dict[str, Any]:
    """The keys of a report on the endpoints of a run that has them."""
    if (used := result.endpoint) is None:
        return {}
    return {
        "endpoint": {
            "system": used.system,
            "order": used.order,
            "usable_cycles": used.usable_cycles,
            "occupancy": {name: str(share) for name, share in used.occupancy.items()},
            "delays": {name: str(cycles) for name, cycles in used.delays.items()},
            "counts": dict(used.counts),
        }
    }


def switch_report(result: Switched, before: Tables, after: Tables) -> dict[str, Any]:
    """The JSON document of `simulate --then`: that of the first tables, with the part that followed under `switched`."""
    switched = {
        "opens": result.opens,
        "cycles": result.cycles,
        "epoch": after.epoch,
        "data_ok": result.data_ok,
        "mixed": list(result.mixed),
        "then": simulation_report(result.after, after),
    }
    return simulation_report(result.before, before) | {"switched": switched}


def switch_words(report: dict[str, Any]) -> str:
    """The report as text."""
    switched = report["switched"]
    when = f"open in cycle {switched['opens']:,}; all ends in cycle {switched['cycles']:,}"
    lines = [simulation_words(report), simulation_words(switched["then"]), f"new tables, epoch {switched['epoch']}, {when}"]
    lines += [f"  mixed epochs: {line}" for line in switched["mixed"]]
    return "\n".join(lines)


def simulation_words(report: dict[str, Any]) -> str:
    """The report as text."""
    size, cycles, expected = size_words(report["message_bytes"]), report["cycles"], report["closed_form_cycles"]
    lines = [
        f"{report['run']} run of {size} on {one_line(report['topology'])}: {cycles:,} cycles ({report['engine']} engine)",
        f"  time: {clock_words(report)} on machine {one_line(report['machine'])}",
    ]
    if expected is not None:
        agreement = "equal" if cycles == expected else f"{cycles - expected:+,} cycles"
        without = ", without what routers add" if report.get("router_effect") and cycles != expected else ""
        lines.append(f"  closed form: {expected:,} cycles{without}: {agreement}")
    planned = f", {report['planned_cycles']:,} of them planned" if "planned_cycles" in report else ""
    lines.append(f"  contention: {report['contention_cycles']:,} cycles{planned}; late rows: {report['late']:,}")
    if report["max_link_utilization"] is not None:
        lines.append(f"  busiest link: {float(Fraction(report['max_link_utilization'])) * 100:.2f} % of the time")
    if "endpoint" in report:
        lines += _endpoint_lines(report["endpoint"], cycles)
    if report["parts"] > 1:
        why = "since it reuses a chunk's buffer; a barrier separates the parts"
        lines.append(f"  in {report['parts']} parts, {why}")
    if "background" in report:
        other = report["background"]
        arrived = f"{other['arrived']:,} of {other['packets']:,} packets arrived"
        lines.append(f"  background: {arrived}, the slowest in {other['longest_latency']:,} cycles")
    if report["data_ok"]:
        lines.append("  data: right at every rank")
    elif report["wrong"] is not None:
        lines.append(f"  data: WRONG, first at rank {report['wrong']['rank']}, chunk {report['wrong']['chunk']}")
    if report.get("faults") == [] and report["data_ok"]:
        lines.append("  order of additions: as stated")
    faults = report.get("faults", [])
    lines += [f"  out-of-order: {line}" for line in faults]
    if (more := report.get("out_of_order", 0) - len(faults)) > 0:
        lines.append(f"  out-of-order: {more:,} more")
    lines += [f"  starved: {line}" for line in report.get("starved", [])]
    return "\n".join([*lines, *(f"  deadlock: {line}" for line in report["deadlock"])])


def _endpoint_lines(used: dict[str, Any], cycles: int) -> list[str]:
    """The lines on endpoints: which system ran the collective, and how busy its units were."""
    order = f", in the order of {used['order']}" if used["order"] else ""
    wait = cycles - used["usable_cycles"]
    back = f"; results back {wait:,} cycles after the last arrival" if wait else ""
    if bound := used["counts"].get("bound_cycles"):
        back += f"; {cycles / bound:.3f} times the time bound"
    shares = (f"{name.replace('_', ' ')} {float(Fraction(share)) * 100:.1f} %" for name, share in used["occupancy"].items())
    counts = (f"{name.replace('_', ' ')} {count:,}" for name, count in used["counts"].items())
    return [
        f"  endpoint: {used['system']}{order}{back}",
        f"    busy: {', '.join(shares)}",
        f"    {', '.join(counts)}",
    ]
