"""`certree flits` (study): Fields and bits of flits, sizes of tables, heads of messages in a run."""

from pathlib import Path
from typing import Any

import click

from certree.api.reports.text import one_line
from certree.cli.words.parameters import check_output, option_json, option_params, option_size
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, note, say
from certree.extras.flits.model.flit_format import FlitType
from certree.extras.flits.run.layouts import FlitLayout, flit_layout
from certree.extras.flits.run.traced_heads import traced_heads, write_heads
from certree.extras.flits.run.verilog import write_modules
from certree.models.common.errors import InputError
from certree.models.traces.flits import load_flit_trace


@click.command("flits")
@click.argument("sources", nargs=-1, required=True, metavar="SCHEDULE_OR_TOPOLOGY...")
@option_size(recorded=True)
@option_params(recorded=True)
@click.option("--trace", type=click.Path(path_type=Path), help="What simulate --trace-flits has written: show the heads in it.")
@click.option("--heads", type=click.Path(path_type=Path), help="With --trace: write the heads as CSV, one line for each channel.")
@click.option("-o", "--output", type=click.Path(path_type=Path),
              help="Write packer, unpacker and turner of these flits in SystemVerilog into a new folder.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite files.")
@option_json()
def flits_command(
    sources: tuple[str, ...],
    size: int | None,
    machine: str | None,
    trace: Path | None,
    heads: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Layout of flits as the MultiTree paper has it (Fig. 8), and the size of tables next to the paper's.

    Arguments are schedules, tables, or networks, for which multitree makes a schedule. One is shown field by field, several in a
    table. The paper states 200 bits for a row, and two rows for each node.
    """
    if len(sources) > 1 and (trace or output):
        raise InputError(f"{'--trace' if trace else '--output'} is for one schedule or network; there are {len(sources)}")
    if heads and not trace:
        raise InputError("--heads writes what a trace has; name one with --trace")
    check_output(heads, force=force)
    with working("laying out"):
        layouts = [flit_layout(source, size=size, machine=machine, tell=note) for source in sources]
        found = None if trace is None else list(traced_heads(load_flit_trace(trace), layouts[0].format))
    if found is not None and heads is not None:
        write_heads(heads, found, layouts[0].format, force=force)
    if output is not None:
        write_modules(output, layouts[0].format, force=force)
    if as_json:
        emit({"layouts": [layout_report(layout) for layout in layouts], "heads": None if found is None else len(found)})
        return 0
    if len(layouts) > 1:
        _say_sizes(layouts)
        return 0
    say(layout_words(layouts[0]))
    if found is not None:
        say(f"  heads in the trace: {len(found):,}" + (f", written to {one_line(str(heads))}" if heads else ""))
    return 0


def layout_report(layout: FlitLayout) -> dict[str, Any]:
    """The JSON document of one layout."""
    form = layout.format
    return {
        "topology": layout.schedule.topology.name,
        "machine": layout.machine.name,
        "nodes": layout.nodes,
        "vcs": layout.machine.vc_count,
        "ports": form.ports,
        "hops": form.hops,
        "trees": layout.trees,
        "flit_bits": form.bits,
        "head_bits": layout.head_bits(),
        "packet_head_bits": layout.head_bits(FlitType.HEAD),
        "fields": [{"name": field.name, "bits": field.bits} for field in form.fields(FlitType.MESSAGE_HEAD)],
        "row_bits": layout.row_bits,
        "rows": layout.rows,
        "table_bytes": layout.table_bytes,
        "paper_row_bits": layout.paper_row_bits,
        "paper_rows": layout.paper_rows,
        "paper_table_bytes": layout.paper_table_bytes,
    }


def layout_words(layout: FlitLayout) -> str:
    """One layout as text."""
    form = layout.format
    lines = [f"flits on {one_line(layout.schedule.topology.name)}, machine {one_line(layout.machine.name)}: {form.bits} bits"]
    for kind, what in (
        (FlitType.MESSAGE_HEAD, "head of a message"),
        (FlitType.HEAD, "head of a packet"),
        (FlitType.BODY, "any other"),
    ):
        lines.append(f"  {what + ':':<18} " + ", ".join(f"{field.name} {field.bits}" for field in form.fields(kind)))
    hops = "1 hop" if form.hops == 1 else f"{form.hops} hops"
    lines.append(f"  one-hot fields of a route: {form.ports} ports of a router, routes of {hops} at most")
    lines.append(
        f"  table of a node: {layout.row_bits} bits a row, {layout.rows} rows at most, {layout.table_bytes:,} bytes;"
        f" by the paper {layout.paper_row_bits} bits, {layout.paper_rows} rows, {layout.paper_table_bytes:,} bytes"
    )
    return "\n".join(lines)


def _say_sizes(layouts: list[FlitLayout]) -> None:
    header = [
        "network",
        ">nodes",
        ">ports",
        ">hops",
        ">head bits",
        ">row bits",
        ">rows",
        ">bytes",
        ">paper's rows",
        ">paper's bytes",
    ]
    rows = []
    for one in layouts:
        form = one.format
        numbers = [one.nodes, form.ports, form.hops, one.head_bits(), one.row_bits, one.rows, one.table_bytes]
        numbers += [one.paper_rows, one.paper_table_bytes]
        rows.append([one_line(one.schedule.topology.name), *(f"{number:,}" for number in numbers)])
    say_table(header, rows)
