# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.endpoints.command.endpoint_bounds import bound_with_endpoint as bound_with_endpoint
from certree.extras.endpoints.run.endpoint_runs import endpoints as endpoints
