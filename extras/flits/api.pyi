# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.flits.run.layouts import flit_layout as flit_layout
