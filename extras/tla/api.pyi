# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.tla.check.model_runs import ModelResult as ModelResult
from certree.extras.tla.run.model_checks import model_check as model_check
