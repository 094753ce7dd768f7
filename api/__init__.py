"""The Python API: `import certree.api as ct`. The commands of the command line call these functions and print.

Functions take the texts that the command line takes, or objects of the data model; they return objects of the data model, and raise
the errors of `certree.models.common.errors` and of `errors`. Nothing is imported before it is used.

- `parsing`: networks, collectives, machines and sizes; `inputs`: files and folders; `errors`
- `batches`: verify_all, and its reports for other programs
- `checking`: verify, certify, bound; `synthesis`: synthesize, improve; `frontiers`: frontier; `evidence`: how certificates are made
- `tables`: export, import_tables, row_bits; `bundles`: bundle, and what verify does with one
- `runtimes`: export_program, verify_program, import_program, execute
- `runs`: simulate, simulate_switch, deadlock, model_check, inject, aggregate, endpoints; `training`: train
- `runnable`: from a schedule to what is run
- `comparison`: compare, by cycles; `costs`: cost, flow_time, fit, measure; `listings`: names, explain, describe, schemas
- `sweeps`: sweep, plan_sweep; `tuning`: tune; `spread`: a search on workers; `workers`: processes of this computer or of a cluster
- `papers`: reproduce, gallery; `pictures`: draw; `pages`: report; `reports`: results as JSON documents and in words
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certree.api.batches.paths import verify_all as verify_all
    from certree.api.batches.reports import junit as junit
    from certree.api.batches.reports import sarif as sarif
    from certree.api.bundles.checking import BundleVerdict as BundleVerdict
    from certree.api.bundles.evidence import ItemResult as ItemResult
    from certree.api.bundles.making import bundle as bundle
    from certree.api.bundles.reading import read_bundle as read_bundle
    from certree.api.checking import Bounds as Bounds
    from certree.api.checking import bound as bound
    from certree.api.checking import certify as certify
    from certree.api.checking import verify as verify
    from certree.api.comparison import compare as compare
    from certree.api.costs.costing import cost as cost
    from certree.api.costs.fitting import fit as fit
    from certree.api.costs.fitting import measure as measure
    from certree.api.costs.fitting import save_parameters as save_parameters
    from certree.api.costs.flow_timing import flow_time as flow_time
    from certree.api.errors import DeadlockError as DeadlockError
    from certree.api.errors import DisagreementError as DisagreementError
    from certree.api.errors import ExecutionError as ExecutionError
    from certree.api.errors import InvalidScheduleError as InvalidScheduleError
    from certree.api.errors import SearchInterrupted as SearchInterrupted
    from certree.api.frontiers import frontier as frontier
    from certree.api.inputs import load as load
    from certree.api.inputs import save as save
    from certree.api.listings import describe as describe
    from certree.api.listings import explain as explain
    from certree.api.listings import names as names
    from certree.api.listings import schemas as schemas
    from certree.api.pages.report import report as report
    from certree.api.papers.gallery import gallery as gallery
    from certree.api.papers.reproduction import reproduce as reproduce
    from certree.api.parsing import collective as collective
    from certree.api.parsing import demand as demand
    from certree.api.parsing import machine as machine
    from certree.api.parsing import size as size
    from certree.api.parsing import topology as topology
    from certree.api.pictures.drawing import draw as draw
    from certree.api.runs.aggregation import aggregate as aggregate
    from certree.api.runs.deadlocks import deadlock as deadlock
    from certree.api.runs.endpoints import endpoints as endpoints
    from certree.api.runs.injection import Traffic as Traffic
    from certree.api.runs.injection import inject as inject
    from certree.api.runs.model_checks import model_check as model_check
    from certree.api.runs.simulation import simulate as simulate
    from certree.api.runs.simulation import simulate_switch as simulate_switch
    from certree.api.runtimes.executing import Executed as Executed
    from certree.api.runtimes.executing import execute as execute
    from certree.api.runtimes.programs import CheckedProgram as CheckedProgram
    from certree.api.runtimes.programs import export_program as export_program
    from certree.api.runtimes.programs import import_program as import_program
    from certree.api.runtimes.programs import verify_program as verify_program
    from certree.api.sweeps.running import plan_sweep as plan_sweep
    from certree.api.sweeps.running import sweep as sweep
    from certree.api.sweeps.specification import sweep_example as sweep_example
    from certree.api.synthesis import improve as improve
    from certree.api.synthesis import synthesize as synthesize
    from certree.api.tables import export as export
    from certree.api.tables import import_tables as import_tables
    from certree.api.tables import row_bits as row_bits
    from certree.api.training.running import train as train
    from certree.api.tuning.running import tune as tune
    from certree.api.workers.pool import Workers as Workers
    from certree.hw.engines.runs import Run as Run
    from certree.hw.reducing.setup import AggregationRules as AggregationRules
    from certree.hw.switching import Switched as Switched
    from certree.models.bundle.bundle import Bundle as Bundle
    from certree.models.common.errors import CertreeError as CertreeError
    from certree.models.common.errors import InputError as InputError
    from certree.models.common.errors import ToolMissingError as ToolMissingError
    from certree.models.common.errors import UndecidedError as UndecidedError
    from certree.models.common.errors import UnsupportedError as UnsupportedError
    from certree.models.cost.fitting.measurements import Measurement as Measurement
    from certree.models.machine.machine import Machine as Machine
    from certree.models.network.topology import Topology as Topology
    from certree.models.schedule.collective import Collective as Collective
    from certree.models.schedule.schedule import Schedule as Schedule
    from certree.models.schedule.symmetric.symmetric import SymmetricSchedule as SymmetricSchedule
    from certree.models.tables.tables import Tables as Tables
    from certree.verify.deadlock.freedom import Freedom as Freedom
    from certree.verify.tla.runs import ModelResult as ModelResult
    from certree.verify.verdict import Verdict as Verdict

#: module -> the names that this package has from it
_PARTS = {
    "certree.api.batches.paths": ("verify_all",),
    "certree.api.batches.reports": (
        "junit",
        "sarif",
    ),
    "certree.api.bundles.checking": ("BundleVerdict",),
    "certree.api.bundles.evidence": ("ItemResult",),
    "certree.api.bundles.making": ("bundle",),
    "certree.api.bundles.reading": ("read_bundle",),
    "certree.api.checking": (
        "Bounds",
        "bound",
        "certify",
        "verify",
    ),
    "certree.api.comparison": ("compare",),
    "certree.api.costs.costing": ("cost",),
    "certree.api.costs.fitting": (
        "fit",
        "measure",
        "save_parameters",
    ),
    "certree.api.costs.flow_timing": ("flow_time",),
    "certree.api.errors": (
        "DeadlockError",
        "DisagreementError",
        "ExecutionError",
        "InvalidScheduleError",
        "SearchInterrupted",
    ),
    "certree.api.frontiers": ("frontier",),
    "certree.api.inputs": (
        "load",
        "save",
    ),
    "certree.api.listings": (
        "describe",
        "explain",
        "names",
        "schemas",
    ),
    "certree.api.pages.report": ("report",),
    "certree.api.papers.gallery": ("gallery",),
    "certree.api.papers.reproduction": ("reproduce",),
    "certree.api.parsing": (
        "collective",
        "demand",
        "machine",
        "size",
        "topology",
    ),
    "certree.api.pictures.drawing": ("draw",),
    "certree.api.runs.aggregation": ("aggregate",),
    "certree.api.runs.deadlocks": ("deadlock",),
    "certree.api.runs.endpoints": ("endpoints",),
    "certree.api.runs.injection": (
        "Traffic",
        "inject",
    ),
    "certree.api.runs.model_checks": ("model_check",),
    "certree.api.runs.simulation": (
        "simulate",
        "simulate_switch",
    ),
    "certree.api.runtimes.executing": (
        "Executed",
        "execute",
    ),
    "certree.api.runtimes.programs": (
        "CheckedProgram",
        "export_program",
        "import_program",
        "verify_program",
    ),
    "certree.api.sweeps.running": (
        "plan_sweep",
        "sweep",
    ),
    "certree.api.sweeps.specification": ("sweep_example",),
    "certree.api.synthesis": (
        "improve",
        "synthesize",
    ),
    "certree.api.tables": (
        "export",
        "import_tables",
        "row_bits",
    ),
    "certree.api.training.running": ("train",),
    "certree.api.tuning.running": ("tune",),
    "certree.api.workers.pool": ("Workers",),
    "certree.hw.engines.runs": ("Run",),
    "certree.hw.reducing.setup": ("AggregationRules",),
    "certree.hw.switching": ("Switched",),
    "certree.models.bundle.bundle": ("Bundle",),
    "certree.models.common.errors": (
        "CertreeError",
        "InputError",
        "ToolMissingError",
        "UndecidedError",
        "UnsupportedError",
    ),
    "certree.models.cost.fitting.measurements": ("Measurement",),
    "certree.models.machine.machine": ("Machine",),
    "certree.models.network.topology": ("Topology",),
    "certree.models.schedule.collective": ("Collective",),
    "certree.models.schedule.schedule": ("Schedule",),
    "certree.models.schedule.symmetric.symmetric": ("SymmetricSchedule",),
    "certree.models.tables.tables": ("Tables",),
    "certree.verify.deadlock.freedom": ("Freedom",),
    "certree.verify.tla.runs": ("ModelResult",),
    "certree.verify.verdict": ("Verdict",),
}
_MODULES = {name: module for module, names in _PARTS.items() for name in names}
__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Import a function when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
