"""One self-contained HTML page: rankings with reasons, curves with linked selection, costs, and cells without a result."""

import shlex
from base64 import b64encode
from fractions import Fraction
from importlib import metadata
from typing import Any

from certree.api.reports.text import size_words
from certree.extras.designs.make.compared import ComparedDesigns
from certree.extras.designs.model.bill import Bill
from certree.extras.designs.model.network_costs import NetworkCosts
from certree.extras.designs.model.rows import Row, without_result
from certree.extras.reports.explorer.templates import asset, embedded, environment
from certree.extras.reports.make.plots import COLOURS
from certree.extras.reports.pictures.ground import is_drawn
from certree.extras.reports.pictures.network import network_picture
from certree.extras.sweeps.run.specification import DEFAULT_MACHINE
from certree.extras.sweeps.run.wanted import parse_wanted

PACKAGE = "certree.extras.designs.pages"
MOST_WITHOUT = 200  # cells without a result that are listed


def designs_page(found: ComparedDesigns) -> str:
    """The HTML; the same results give the same bytes. It loads nothing from elsewhere."""
    networks = list(found.structures)
    lost = without_result(found.rows)
    charts = [chart.document() for chart in found.charts()]
    data = {"networks": networks, "colours": [COLOURS[index % len(COLOURS)] for index in range(len(networks))], "charts": charts}
    return str(
        environment(PACKAGE)
        .get_template("designs.html.j2")
        .render(
            title=found.title(),
            version=metadata.version("certree"),
            style=asset("designs.css", PACKAGE),
            script=asset("designs.js", PACKAGE),
            data=embedded(data),
            counts=found.counts_words,
            rankings=found.rankings,
            networks=networks,
            colours=data["colours"],
            facts=_facts(found),
            drawings=[_drawing(found, name) for name in networks],
            models=[_model(found, name) for name in found.bills],
            lost=[_lost(row) for row in lost[:MOST_WITHOUT]],
            left_out=max(0, len(lost) - MOST_WITHOUT),
        )
    )


def _facts(found: ComparedDesigns) -> list[tuple[str, list[str]]]:
    """Rows of the table of networks: what, and the value of each network."""
    of = list(found.structures.values())
    return [
        ("endpoints", [f"{one.endpoints:,}" for one in of]),
        ("switches", [f"{one.switches:,}" for one in of]),
        ("links, one direction", [f"{one.links:,}" for one in of]),
        ("out of an endpoint, at least, GB/s", [f"{float(one.endpoint_rate):,g}" for one in of]),
        ("diameter, hops", [str(one.diameter_hops) for one in of]),
        ("bisection", [one.bisection_words for one in of]),
        ("link-disjoint paths, at least", [str(one.least_disjoint) for one in of]),
        ("shortest paths, least and mean", [f"{one.least_shortest}, {float(one.mean_shortest):.2f}" for one in of]),
    ]


def _drawing(found: ComparedDesigns, name: str) -> dict[str, str | None]:
    """A picture of a network as a data URL, None where it is too large; the page with the interactive view of a schedule, None
    before it is made, and the commands that make it."""
    asked = found.asked
    topology = asked.networks[name]
    picture = None
    if is_drawn(topology):
        picture = "data:image/svg+xml;base64," + b64encode(network_picture(topology).encode()).decode()
    wanted = parse_wanted(asked.collectives[0])
    words = ["certree", "synthesize", name, *wanted.arguments, "--method", asked.method]
    words += [] if wanted.demand else ["--size", str(max(asked.sizes))]
    words += [] if asked.machine == DEFAULT_MACHINE else ["--params", asked.machine]
    words += [] if asked.effort == 1 else ["--effort", str(asked.effort)]
    words += [] if asked.seed == 0 else ["--seed", str(asked.seed)]
    page = asked.view_path(name)
    view = page.as_posix() if (found.folder / page).is_file() else None
    return {
        "name": name,
        "picture": picture,
        "view": view,
        "command": f"{shlex.join(words)} -o S.json && certree draw S.json -o S.html",
    }


def _model(found: ComparedDesigns, name: str) -> dict[str, Any]:
    """The table of a cost model: a row for each part that a network has."""
    bills, costs = found.bills[name], found.costs(name)
    currency = costs.currency
    whats = list(dict.fromkeys((line.group, line.what) for bill in bills.values() for line in bill.lines))
    rows = [(what, [_line(bill, group, what) for bill in bills.values()]) for group, what in sorted(whats, key=_order)]
    rows += [
        (f"energy of {costs.energy.years} years", [_money(bill.energy) for bill in bills.values()]),
        (f"everything, {currency}", [_money(bill.cost) for bill in bills.values()]),
        (
            f"for each endpoint, {currency}",
            [_money(bill.cost / found.structures[network].endpoints) for network, bill in bills.items()],
        ),
        ("power, W", [_money(bill.watts) for bill in bills.values()]),
        ("racks", [str(bill.racks) for bill in bills.values()]),
    ]
    return {"name": name, "currency": currency, "rows": rows, "sources": _sources(costs)}


def _order(entry: tuple[str, str]) -> tuple[int, str]:
    return ("ports", "switches", "cables").index(entry[0]), entry[1]


def _line(bill: Bill, group: str, what: str) -> str:
    mine = [line for line in bill.lines if (line.group, line.what) == (group, what)]
    return f"{mine[0].count:,}: {_money(mine[0].cost)}" if mine else ""


def _money(value: Fraction) -> str:
    return f"{float(value):,.0f}"


def _sources(costs: NetworkCosts) -> list[str]:
    """Each figure of a model with where it comes from."""
    found = [f"port of {one.gigabits_per_second} Gb/s: {_figures(one)}" for one in costs.ports]
    found += [f"switch of {one.ports} x {one.gigabits_per_second} Gb/s: {_figures(one)}" for one in costs.switches]
    found += [
        f"{one.medium} cable of {one.gigabits_per_second} Gb/s up to {float(one.reach_metres):g} m,"
        f" {float(one.cost_per_metre):g} more for each metre: {_figures(one)}"
        for one in costs.cables
    ]
    floor, energy = costs.floor, costs.energy
    return [
        *found,
        f"floor: {floor.endpoints_per_rack} endpoints in a rack, {floor.racks_per_row} racks in a row: {floor.source}",
        f"energy: {float(energy.cost_per_kilowatt_hour):g} for a kWh, {energy.years} years,"
        f" {float(energy.overhead):g} W for each W: {energy.source}",
    ]


def _figures(one: Any) -> str:
    return f"{float(one.cost):,g}, {float(one.watts):g} W ({one.source})"


def _lost(row: Row) -> dict[str, str]:
    """A cell without a result, in words."""
    what = [str(row[name]) for name in ("collective", "workload", "method") if row.get(name)]
    if row.get("size_bytes"):
        what.append(size_words(row["size_bytes"]))
    if row.get("dead_links"):
        what.append(f"{row['dead_links']} dead, draw {row['draw']}")
    words = {"part": row["part"], "network": row["network"], "cell": ", ".join(what), "status": row["status"]}
    return {name: str(value) for name, value in words.items()} | {"message": str(row.get("message") or "")}
