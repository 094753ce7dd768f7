"""`certree topology` (study): Show, list and convert networks."""

from fractions import Fraction
from pathlib import Path

import click

import certree.api as ct
from certree.api.listings import describe
from certree.api.reports.text import rounded_words
from certree.cli.words.parameters import PICTURES, argument_topology, check_output, option_json, option_output
from certree.cli.words.terminal import emit, next_step, note, reflowed, say
from certree.models.network.families import load_families
from certree.models.network.network_files import load_network_formats, network_suffixes, save_topology
from certree.models.network.spec import MODIFIERS, parse_topology
from certree.models.network.topology import Topology


@click.group("topology")
def topology_command() -> None:
    """Show, list and convert networks."""


@topology_command.command("show")
@argument_topology()
@option_output("a picture, F.svg or F.png")
@option_json()
def show(topology: Topology, output: Path | None, force: bool, as_json: bool) -> None:
    """Show a network: nodes, links, diameter, digest; with -o a picture."""
    if output is not None:
        check_output(output, force=force, suffixes=PICTURES, what="a picture")
        ct.draw(topology, output, force=force)
        note(f"wrote {output}")
    document = describe(topology)
    if as_json:
        emit(document)
        return
    hops, start, end = (document["diameter"][key] for key in ("hops", "from", "to"))
    least, most = document["degree"]["min"], document["degree"]["max"]
    degrees = str(least) if least == most else f"{least} to {most}"
    switches = document["switches"]
    kind = "direct" if document["direct"] else f"{switches} switch{'es' * (switches != 1)}"
    duplex = "full duplex" if document["full_duplex"] else "not full duplex"
    through = "" if document["direct"] else "; a bound counts a route through switches as one hop"
    slow = {speed: count for speed, count in document["capacities"].items() if Fraction(speed) < 1}
    below = "".join(f"\n  links below full speed: {count} of capacity {speed}" for speed, count in slow.items())
    say(
        f"{topology.name}: {document['endpoints']} endpoints ({kind}), {document['links']} links ({duplex})\n"
        f"  links out of an endpoint: {degrees}; total capacity {document['capacity']}{below}\n"
        f"  diameter: {hops} hop{'s' * (hops != 1)}, from {start} to {end}{through}\n"
        f"  digest: {document['digest']}"
    )
    for line in rounded_words(document):
        say(line)
    _note_units(topology)
    next_step("bound", topology.name)


def _note_units(topology: Topology) -> None:
    """Say how fast a link of capacity 1 of an imported network is, and in what unit schedules count."""
    if topology.bandwidth is None:
        return
    full = f"a link of capacity 1 has {topology.bandwidth / 10**9:.6g} GB/s"
    unit = topology.bandwidth / Fraction(topology.scale) / 10**9
    note(full if topology.rates is None else f"{full}; schedules count in units of {float(unit):.6g} GB/s, rounded down")


@topology_command.command("list")
@click.argument("family", required=False)
@option_json()
def list_families(family: str | None, as_json: bool) -> None:
    """List the named families, modifiers and file formats; with FAMILY, its grammar, node numbers and source."""
    if family is not None:
        text = load_families().explain(family)
        emit({"family": family, "text": text}) if as_json else say(reflowed(text))
        return
    families, modifiers, formats = load_families().describe(), MODIFIERS.describe(), load_network_formats()
    written = network_suffixes(written=True)
    read = [formats[name] for name in formats if formats[name].options]
    options = {name: text for one in read for name, text in one.options.items()}
    if as_json:
        emit(
            {
                "families": dict(families),
                "modifiers": dict(modifiers),
                "files": list(written),
                "imports": [suffix for one in read for suffix in one.suffixes],
            }
        )
        return
    lines = ["named networks", *(f"  {line}" for _, line in families), "modifiers, after a comma; repeatable"]
    lines += [f"  {line}" for _, line in modifiers]
    lines += [f"files: {', '.join(written)} (certree JSON, networkx node-link JSON, GraphML)", "imported files"]
    lines += [f"  {(one.__doc__ or '').splitlines()[0]}" for one in read]
    lines += ["  options after a comma, for what a file does not state:", *(f"    {text}" for text in options.values())]
    say("\n".join(lines))


@topology_command.command("convert")
@click.argument("network")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Where to write: .json, .graphml, and .gz.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@click.option(
    "--speed", "speeds", multiple=True, metavar="KIND=BANDWIDTH", help="Imports: speed of a kind of link, such as NV=25GB/s."
)
@click.option("--unit", metavar="BANDWIDTH", help="Imports: unit in which schedules count link rates, rounded down.")
@click.option("--boxes", metavar="N", help="Imports: N boxes, joined by their network interfaces.")
@click.option(
    "--fabric", metavar="switch|rails|FILE", help="Imports: one switch joins boxes, one for each interface of a box, or a fabric."
)
@click.option("--hosts", metavar="NAME+NAME", help="Imports: the hosts of the fabric that are boxes; * stands for any text.")
@click.option("--dumps", metavar="FILE+FILE", help="Imports: further boxes, each a host of the fabric.")
@click.option(
    "--nvlinks", metavar="direct|switched|degraded|none|...", help="Imports: NVLinks are direct, pass through switches, ..."
)
@click.option("--nvlink-only", is_flag=True, help="Imports: leave out PCIe and sockets.")
@click.option("--host", metavar="NAME", help="Imports: the host to take of several in a file.")
@click.option("--nics", metavar="NAME+NAME", help="Imports: the interfaces or adapters to take; * stands for any text.")
@click.option("--switches", metavar="NAME+NAME", help="Edge lists: the nodes that are no endpoints; * stands for any text.")
@click.option("--rows", "links", metavar="cables|directed", help="Edge lists: what a row is.")
@click.option("--assume", metavar="MACHINE", help="Imports: take what a file does not state from a machine, such as h100.")
def convert(
    network: str,
    output: Path,
    force: bool,
    speeds: tuple[str, ...],
    nvlink_only: bool,
    **options: str | None,
) -> None:
    """Write any network, named or from a file, as certree JSON or GraphML (by suffix).

    What other tools write is read by its contents: `certree topology list` names the formats. The command says what it took,
    assumed and left out, and asks for what the file does not state.
    """
    check_output(output, force=force, suffixes=network_suffixes(written=True), what="a network file")
    typed = [f"speed={speed.replace('=', ':', 1)}" for speed in speeds]
    typed += [f"{name}={value}" for name, value in sorted(options.items()) if value is not None]
    if nvlink_only and options["links"] is None:
        typed.append("links=nvlink")
    spec = ",".join([network, *typed])
    topology = parse_topology(spec)
    save_topology(topology, output, force=force)
    for line in topology.notes:
        note(line)
    _note_units(topology)
    note(f"wrote {output}")
