"""Runs of joint schedules, which `certree simulate` calls."""

from typing import Any

import click
from click.core import ParameterSource

from certree.api.reports.text import one_line
from certree.cli.words.progress_bar import now_and_then, working
from certree.cli.words.terminal import show
from certree.extras.joint.model.joint_file import load_joint
from certree.extras.joint.run.joint_refusals import require_joint_valid
from certree.extras.joint.run.joint_run import joint_run_document, run_joint
from certree.models.common.errors import InputError
from certree.models.common.files import Opened

_TAKEN = ("path", "engine", "as_json")


def simulate_joint(context: click.Context, opened: Opened) -> int:
    """Run a valid joint schedule and show what it did. InputError for options that do not go with it, InvalidJointError for what
    `verify_joint` refuses: a run does not show all of that."""
    asked = context.params
    for name in asked:
        if name not in _TAKEN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = {"machine": "params"}.get(name, name.replace("_", "-"))
            raise InputError(f"--{option}: not with a joint schedule; allowed: --engine fast, lanes or flit, --json")
    joint = load_joint(opened)
    with working("simulating") as tell:
        require_joint_valid(joint)
        done = run_joint(joint, "fast" if asked["engine"] == "auto" else asked["engine"], now_and_then(tell, joint.cycles))
    document = joint_run_document(joint, done)
    show(document, _words, kind="joint-run", as_json=asked["as_json"])
    return 0 if done.holds else 1


def _words(document: dict[str, Any]) -> str:
    lines = [
        f"run of all collectives at once on {one_line(document['topology'])}: {document['cycles']:,} cycles"
        f" ({document['engine']} engine)",
        f"  closed form       {document['closed_form_cycles']:,} cycles",
        f"  contention        {document['contention_cycles']:,} cycles; {document['late']:,} rows late",
        f"  data              {'right in every collective' if document['data_ok'] else 'wrong'}",
    ]
    if document["wrong"] is not None:
        lines.append(f"  first wrong       {document['wrong']}")
    planned = document.get("planned_ends", {})
    for name, end in document.get("ends", {}).items():
        if end != planned[name]:
            lines.append(f"  {one_line(name)}: ends in cycle {end:,}, by its schedule in cycle {planned[name]:,}")
    lines += [f"  too early         {one_line(text)}" for text in document.get("early", ())]
    if document["router_effect"] is not None:
        lines.append(f"  routers left out  {document['router_effect']}")
    return "\n".join([*lines, *(f"  {line}" for line in document["stall"])])
