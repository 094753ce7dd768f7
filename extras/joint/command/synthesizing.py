"""Synthesis of joint schedules, which `certree synthesize --workload` calls."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from certree.cli.words.parameters import check_output
from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note, show
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.joint_report import joint_report, joint_words
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.joint_file import SUFFIXES, save_joint
from certree.models.common.errors import InputError

_TAKEN = ("topology", "workload", "machine", "effort", "seed", "output", "force", "as_json")


def synthesize_workload(context: click.Context, workload: Path) -> int:
    """Make, show and write the joint schedule of the collectives in a file. InputError for options that do not go with it."""
    asked: dict[str, Any] = context.params
    for name in asked:
        if name not in _TAKEN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(
                f"--{name.replace('_', '-')}: not with --workload; allowed: --params, --effort, --seed, --output, --json"
            )
    output = asked["output"]
    check_output(output, force=asked["force"], suffixes=SUFFIXES, what="a joint schedule")
    with working("synthesizing the collectives") as report:
        made = joint(
            asked["topology"],
            workload,
            machine=asked["machine"],
            effort=asked["effort"] or 1,
            seed=asked["seed"],
            progress=report,
        )
    verdict = verify_joint(made)
    if output is not None:
        save_joint(made, output, force=asked["force"])
        note(f"wrote {output}")
    show(
        joint_report(verdict),
        joint_words,
        kind="joint",
        as_json=asked["as_json"],
        then=() if output is None else ("verify", output),
    )
    return 0 if verdict.valid else 1
