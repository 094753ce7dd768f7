# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.proved.run.proved_answer import ProvedAnswer as ProvedAnswer
from certree.extras.proved.run.proved_answer import prove as prove
