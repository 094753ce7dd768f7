# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.improvement.make.improve import improve as improve
