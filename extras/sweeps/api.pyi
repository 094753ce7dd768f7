# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.sweeps.run.comparing.collectives_at_once import compare_collectives as compare_collectives
from certree.extras.sweeps.run.comparing.comparison import compare as compare
from certree.extras.sweeps.run.comparing.several_networks import compare_networks as compare_networks
from certree.extras.sweeps.run.running import plan_sweep as plan_sweep
from certree.extras.sweeps.run.running import sweep as sweep
from certree.extras.sweeps.run.specification import sweep_example as sweep_example
from certree.extras.sweeps.tuning.running import tune as tune
