# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.runtimes.formats.program_format import CheckedProgram as CheckedProgram
from certree.extras.runtimes.programs import export_program as export_program
from certree.extras.runtimes.programs import import_program as import_program
from certree.extras.runtimes.programs import verify_program as verify_program
from certree.extras.runtimes.run.executing import Executed as Executed
from certree.extras.runtimes.run.executing import execute as execute
