# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.costs.model.fitting.measurements import Measurement as Measurement
from certree.extras.costs.run.costing import cost as cost
from certree.extras.costs.run.fitting import fit as fit
from certree.extras.costs.run.fitting import measure as measure
from certree.extras.costs.run.fitting import save_parameters as save_parameters
from certree.extras.costs.run.flow_timing import flow_time as flow_time
