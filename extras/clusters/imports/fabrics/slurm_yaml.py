"""Slurm's `topology.yaml` (Slurm 25.05): one or several topologies, each a tree of switches or blocks of nodes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box
from certree.extras.clusters.imports.fabrics.slurm import box_of
from certree.extras.clusters.imports.options import Options
from certree.extras.clusters.imports.texts import entries, lines_of, start_of, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened

_BEGINS = re.compile(r"-\s+topology:\s*\S")
_FIELD = re.compile(r"(- +)?(\w+):\s*(.*)")
_SIZE = re.compile(r"- +[0-9]+")
#: fields -> what `topology.conf` calls them; with "- " in front a switch or a block begins
_WORDS = {"switch": "SwitchName", "block": "BlockName", "nodes": "Nodes", "children": "Switches"}
_HEADS = ("tree", "block", "switches", "blocks", "block_sizes")


@dataclass
class _Listed:
    """A topology: by the line of each switch or block what `topology.conf` would say in it."""

    name: str
    line: int
    is_default: bool = False
    rows: dict[int, list[str]] = field(default_factory=dict)


@description("slurm-yaml", lambda start: any(_BEGINS.match(line.strip()) for line in start_of(start)), ".yaml")
def read_slurm_yaml(file: Opened, options: Options) -> Box:
    """.yaml - Slurm's topology.yaml: the cluster's default topology, read as topology.conf."""
    where = str(file)
    lines = lines_of(text_of(file, "Slurm's topology.yaml"))
    found = _topologies(lines, where)
    chosen = next((one for one in found if one.is_default), found[0])
    if len(found) > 1 and not chosen.is_default:
        names = ", ".join(one.name for one in found)
        raise TopologyError(f"{where}: topologies {names}, none with cluster_default: true; give one of them")
    if len(found) > 1:
        options.tell("took", f"topology {chosen.name}, the cluster's default, of {len(found)}")
    if not chosen.rows:
        raise TopologyError(f"{where}: line {chosen.line}: topology {chosen.name} lists no switches or blocks")
    return box_of([" ".join(chosen.rows.get(number, ())) for number in range(1, len(lines) + 1)], options, where)


def _topologies(lines: Sequence[str], where: str) -> list[_Listed]:
    found: list[_Listed] = []
    row: list[str] = []
    for number, line in entries(list(lines), "#"):
        match = _FIELD.fullmatch(line)
        begins, name, value = (match[1] is not None, match[2], match[3].strip("\"'")) if match else (False, "", "")
        if begins and name == "topology" and value:
            found.append(_Listed(value, number))
            row = []
        elif line == "---" or (found and (_SIZE.fullmatch(line) or (name in _HEADS and not begins and not value))):
            continue
        elif found and begins and name in ("switch", "block") and value:
            row = found[-1].rows[number] = [f"{_WORDS[name]}={value}"]
        elif row and not begins and name in ("nodes", "children") and value:
            row.append(f"{_WORDS[name]}={''.join(value.split())}")
        elif found and not begins and name in ("cluster_default", "flat") and value in ("true", "false"):
            found[-1].is_default = found[-1].is_default or (name == "cluster_default" and value == "true")
        elif not (found and not begins and name == "block_sizes" and re.fullmatch(r"\[[0-9, ]+\]", value)):
            raise TopologyError(
                f"{where}: line {number}: {short(line)}; expected topology, cluster_default, tree, block, flat, or switches with"
                " nodes or children, or blocks with nodes"
            )
    return found
