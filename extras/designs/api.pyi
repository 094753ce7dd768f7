# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.designs.run.running import designs as designs
