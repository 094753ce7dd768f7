# The names of `import certree.api as ct`, each with the module that has it; `certree.api` reads them from here when it is imported.
# Those of an extra stand in its own `api.pyi`.
from certree.api.api_errors import DeadlockError as DeadlockError
from certree.api.api_errors import DisagreementError as DisagreementError
from certree.api.api_errors import ExecutionError as ExecutionError
from certree.api.api_errors import InvalidScheduleError as InvalidScheduleError
from certree.api.api_errors import SearchInterrupted as SearchInterrupted
from certree.api.checks.checking import Bounds as Bounds
from certree.api.checks.checking import bound as bound
from certree.api.checks.checking import certify as certify
from certree.api.checks.checking import verify as verify
from certree.api.checks.exactness import Exactness as Exactness
from certree.api.checks.exactness import certify_exact as certify_exact
from certree.api.checks.path_verdicts import verify_all as verify_all
from certree.api.checks.reports import junit as junit
from certree.api.checks.reports import sarif as sarif
from certree.api.inputs import load as load
from certree.api.inputs import save as save
from certree.api.listings import describe as describe
from certree.api.listings import explain as explain
from certree.api.listings import names as names
from certree.api.listings import schemas as schemas
from certree.api.parsing import collective as collective
from certree.api.parsing import demand as demand
from certree.api.parsing import machine as machine
from certree.api.parsing import relayed as relayed
from certree.api.parsing import size as size
from certree.api.parsing import topology as topology
from certree.api.runs.deadlocks import deadlock as deadlock
from certree.api.runs.injection import Traffic as Traffic
from certree.api.runs.injection import inject as inject
from certree.api.runs.simulation import simulate as simulate
from certree.api.runs.simulation import simulate_switch as simulate_switch
from certree.api.synthesis import synthesize as synthesize
from certree.api.table_export import export as export
from certree.api.table_export import import_tables as import_tables
from certree.api.table_export import row_bits as row_bits
from certree.api.workers import Workers as Workers
from certree.extras.aggregation.api import *
from certree.extras.algorithms.api import *
from certree.extras.bundles.api import *
from certree.extras.costs.api import *
from certree.extras.designs.api import *
from certree.extras.endpoints.api import *
from certree.extras.flits.api import *
from certree.extras.frontiers.api import *
from certree.extras.improvement.api import *
from certree.extras.joint.api import *
from certree.extras.opinion.api import *
from certree.extras.papers.api import *
from certree.extras.proved.api import *
from certree.extras.reports.api import *
from certree.extras.runtimes.api import *
from certree.extras.sweeps.api import *
from certree.extras.tla.api import *
from certree.extras.training.api import *
from certree.extras.xla.api import *
from certree.hw.engines.runs import Run as Run
from certree.hw.switching import Switched as Switched
from certree.models.common.errors import CertreeError as CertreeError
from certree.models.common.errors import InputError as InputError
from certree.models.common.errors import ToolMissingError as ToolMissingError
from certree.models.common.errors import UndecidedError as UndecidedError
from certree.models.common.errors import UnsupportedError as UnsupportedError
from certree.models.machine.machine import Machine as Machine
from certree.models.network.topology import Topology as Topology
from certree.models.schedule.collective import Collective as Collective
from certree.models.schedule.schedule import Schedule as Schedule
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule as SymmetricSchedule
from certree.models.tables.tables import Tables as Tables
from certree.verify.deadlock.freedom import Freedom as Freedom
from certree.verify.verdict import Verdict as Verdict

def modules() -> dict[str, str]: ...
