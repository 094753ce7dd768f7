"""Pages that are generated while mkdocs builds the site: the command line, the Python API, schemas, pages of the root folder."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from certree import api
from certree.cli.main import certree
from certree.extras.designs.make.charts import figures
from certree.extras.designs.make.drawing import figure_files
from certree.extras.designs.run.running import read_compared
from certree.extras.reports.make.views import Asked, schedule_picture
from certree.extras.reports.pictures.network import network_picture
from certree.models.network.spec import parse_topology, undamaged

#: functions of the API by what is done with them; those of no verb stand below OTHERS
VERBS = {
    verb: names.split()
    for verb, names in {
        "Name what is asked": "topology collective demand machine size relayed names explain describe schemas",
        "Make schedules": "synthesize improve frontier tune joint method from_dataframe",
        "Bound and verify": "bound bound_with_endpoint verify verify_all verify_joint verify_program check_launches certify"
        " certify_exact prove second_opinion model_check deadlock",
        "Read and write": "load save save_joint save_collectives joint_list export import_tables row_bits export_program"
        " import_program jax bundle read_bundle to_dataframe junit sarif flit_layout",
        "Simulate and run": "simulate simulate_switch inject aggregate endpoints execute train",
        "See": "draw report",
        "Compare": "compare compare_networks compare_collectives cost fit measure save_parameters flow_time plan_sweep sweep"
        " sweep_example designs gallery reproduce",
    }.items()
}
OTHERS, CLASSES, ERRORS = "Others", "Results and objects", "Errors"
ROOT = Path(__file__).parents[1]
#: pages of the root folder, and where they stand on the site
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
#: pictures of networks in `images`
PICTURES = {"damaged": "torus:6x6,without-link=0-1,without-link=14-20,link-capacity=27-28:1/2"}
#: pictures of the comparison of designs there, from its table, in which 555 cells took minutes
DESIGNS = ("examples/designs.toml", "examples/designs-cells.csv")
#: pictures of schedules there: network, method, size, view
SCHEDULES = {"spacetime": ("mesh:2x2", "packing", "64KiB", "spacetime"), "trees": ("mesh:4x4", "packing", "64MiB", "trees")}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {"reference/cli.md": command_line(), "reference/api.md": python_api()}
    for name, page in ROOT_PAGES.items():
        pages[page] = re.sub(r"\]\(docs/", "](", (ROOT / name).read_text())
    pages["changelog.md"] = pages["changelog.md"].replace("## Unreleased\n", news())
    for name, schema in api.schemas().items():
        pages[f"reference/schemas/{name}.schema.json"] = json.dumps(schema, indent=2) + "\n"
    pages |= {f"images/{name}.svg": _picture(network) for name, network in PICTURES.items()}
    pages |= {f"images/{name}.svg": _schedule_picture(*view) for name, view in SCHEDULES.items()}
    pages |= {f"images/designs-{name}.svg": text for name, text in _design_pictures().items()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_post_template(output_content: str, **_: object) -> str:
    """The page for addresses that do not exist, as `on_post_page`."""
    return on_post_page(output_content)


def on_post_page(output: str, **_: object) -> str:
    """A page whose controls all have a name for those who do not see them; the theme leaves some without."""
    names = {'role="dialog"': "Search", 'id="__drawer"': "Navigation", 'id="__search"': "Search"}
    for control, name in names.items():
        output = output.replace(control, f'{control} aria-label="{name}"')
    return re.sub(r"<th( [^>]*)?></th>", "<td></td>", output)  # the empty corner of a table is no header


def on_post_build(*, config: MkDocsConfig) -> None:
    """Remove what the theme brings and no page loads: maps for debuggers, stemmers of other languages."""
    scripts = Path(config.site_dir) / "assets"
    for path in [*scripts.rglob("*.map"), *(scripts / "javascripts" / "lunr").rglob("*.js")]:
        path.unlink()


def news() -> str:
    """The news fragments as a section of the changelog, as `towncrier build` will write them."""
    command = [Path(sys.executable).with_name("towncrier"), "build", "--draft", "--version", "Unreleased"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return re.sub(r"\]\(docs/", "](", done.stdout.lstrip())


def _picture(network: str) -> str:
    topology = parse_topology(network)
    return network_picture(topology, undamaged(topology))


def _schedule_picture(network: str, method: str, size: str, view: str) -> str:
    schedule = api.synthesize(network, method=method, size=size)
    return schedule_picture(schedule, view, None, Asked())


def _design_pictures() -> dict[str, str]:
    asked, table = (ROOT / name for name in DESIGNS)
    found = read_compared(asked, table)
    by_figure = figures(found.charts()).items()
    return {name: figure_files(charts, list(found.structures))[".svg"].decode() for name, charts in by_figure}


def command_line() -> str:
    """Usage and options of every command, from the objects of click."""
    parts = ["# Command line\n\nThe text of `certree COMMAND --help`, for all commands.\n"]
    root = click.Context(certree, info_name="certree")
    for name in certree.list_commands(root):
        command = certree.get_command(root, name)
        assert command is not None
        parts.append(_command(command, click.Context(command, info_name=name, parent=root), "##"))
    return "\n".join(parts)


def _command(command: click.Command, context: click.Context, heading: str) -> str:
    usage = " ".join(["certree", *context.command_path.split()[1:], *command.collect_usage_pieces(context)])
    lines = [f"{heading} {context.command_path}\n", _escaped(inspect.cleandoc(command.help or "")), "", f"    {usage}\n"]
    records = [record for option in command.get_params(context) if (record := option.get_help_record(context)) and record[1]]
    if records:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{option.replace('|', ' or ')}` | {_escaped(text).replace('|', ' or ')} |" for option, text in records]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            assert part is not None
            lines.append("\n" + _command(part, click.Context(part, info_name=name, parent=context), heading + "#"))
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Text of a help page as Markdown: no control characters of click, no accidental emphasis or tags."""
    return re.sub(r"([*_<>\[\]])", r"\\\1", text.replace("\b", "").strip())


def python_api() -> str:
    """Every name of `certree.api`: functions by what they do, then classes and errors."""
    verbs: dict[str, list[str]] = {verb: [] for verb in (*VERBS, OTHERS, CLASSES, ERRORS)}
    for name, module in sorted(api.modules().items()):
        if name[0].isupper():
            verb = ERRORS if name.endswith("Error") or name == "SearchInterrupted" else CLASSES
        else:
            verb = next((verb for verb, names in VERBS.items() if name in names), OTHERS)
        verbs[verb].append(f"\n::: {module}.{name}\n")
    parts = [f"# Python API\n\n{(api.__doc__ or '').partition(chr(10) * 2)[0]}\n"]
    return "".join(parts + [f"\n## {verb}\n{''.join(names)}" for verb, names in verbs.items() if names])
