"""The contents of a bundle, as objects and documents. Only form and hashes are checked here."""

from pathlib import Path
from typing import Any

from certree.extras.bundles.model.bundle import FRONTIER, JOINT, Bundle, load_bundle
from certree.extras.joint.model.joint_file import joint_from_document
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.hw.tables.directory import tables_of_files
from certree.models.common.errors import InputError
from certree.models.tables.tables import Tables

TABLES, RUNS, DEADLOCK, MODELS = "tables", "runs", "deadlock.json", "tla/results.json"


def read_bundle(path: str | Path) -> Bundle:
    """The bundle in a file, once its form and the hashes of its members are checked; `verify` checks the evidence.

    Nothing is written to disk.

    Parameters
    ----------
    path : str or path
        The bundle.

    Returns
    -------
    Bundle
        `schedule` is the result, whose certificate has the bounds with their witnesses. The functions of
        `certree.extras.bundles.reading` give the rest: `tables`, `runs`, `deadlock`, `model_checks`, `frontier`.
        `ct.verify(path).items` says what was checked again.

    Raises
    ------
    InputError
        For files that are truncated, altered or no bundles.

    Examples
    --------
    >>> import certree.api as ct
    >>> from certree.extras.bundles import reading
    >>> _ = ct.bundle(ct.synthesize("ring:4", size="1MiB"), "ring4.certree", tla=False)
    >>> bundle = ct.read_bundle("ring4.certree")
    >>> bundle.schedule
    <Schedule all-reduce on ring:4: chunks 24, steps 18, repeats 1, transfers 144>
    >>> reading.runs(bundle)["slotted"]["cycles"]
    49334
    """
    return load_bundle(Path(path))


def tables(bundle: Bundle) -> Tables | None:
    """The tables; None where the bundle has none. TableFormatError for files that contradict each other."""
    files = bundle.under(TABLES)
    return tables_of_files(files, Path(bundle.source) / TABLES) if files else None


def runs(bundle: Bundle) -> dict[str, dict[str, Any]]:
    """The documents that `certree simulate --json` printed of runs, by mode ("slotted", "paced")."""
    found = {}
    for name in bundle.under(RUNS):
        document = bundle.document(f"{RUNS}/{name}")
        if not isinstance(document, dict):
            raise InputError(f"{bundle.source}: {RUNS}/{name}: expected an object")
        found[name.removesuffix(".json")] = document
    return found


def deadlock(bundle: Bundle) -> Any:
    """The certificate of freedom from deadlock (schema `deadlock`); None where the bundle has none."""
    return bundle.document(DEADLOCK) if DEADLOCK in bundle.members else None


def model_checks(bundle: Bundle) -> dict[str, Any] | None:
    """The results of TLC: `tool`, `modules` (SHA-256 by name), `models` and `tables`; None where the bundle has none."""
    return bundle.document(MODELS) if MODELS in bundle.members else None


def frontier(bundle: Bundle) -> Any:
    """The document of a frontier with its proofs; InputError for a bundle of a schedule."""
    return bundle.document(FRONTIER)


def joint(bundle: Bundle) -> JointSchedule:
    """The joint schedule; InputError for a bundle of something else, ScheduleFormatError for one that is malformed."""
    return joint_from_document(bundle.document(JOINT), f"{bundle.source}: {JOINT}")
