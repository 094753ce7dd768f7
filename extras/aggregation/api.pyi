# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.aggregation.run.aggregations import aggregate as aggregate
from certree.extras.aggregation.run.setup import AggregationRules as AggregationRules
